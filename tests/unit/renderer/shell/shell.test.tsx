import { screen, waitFor } from '@testing-library/react';
import { Square } from 'lucide-react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { updateSettings } from '../../../../shared/contract/settings.ts';
import type { Client } from '../../../../renderer/host/client.ts';
import { Shell } from '../../../../renderer/shell/shell.tsx';
import { screens } from '../../../../renderer/shell/screens.ts';
import { applyTheme, useShowPageTitle } from '../../../../renderer/stores/window.ts';
import { openWindow, type OpenWindow } from '../../../support/open-window.tsx';

const drawn = vi.fn<() => void>();

function Titled() {
  drawn();
  useShowPageTitle('Greeting');
  return <p>The screen</p>;
}

let opened: OpenWindow;
beforeEach(() => {
  vi.spyOn(screens, 'find').mockReturnValue({
    ...screens[0],
    icon: Square,
    component: Object.assign(Titled, { load: () => Promise.resolve() }),
  });
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }));
});
afterEach(async () => {
  await opened.close();
  applyTheme('system');
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test('neither the title of the page nor the settings draw the screen again', async () => {
  const prepare = (client: Client) => client.call(updateSettings, { body: { appearance: { theme: 'dark' } } });
  opened = await openWindow(<Shell />, { address: '/playground', prepare });
  expect(await screen.findByText('Greeting')).toBeTruthy();
  await waitFor(() => expect(document.documentElement.dataset['theme']).toBe('dark'));
  expect(drawn).toHaveBeenCalledTimes(1);
});
