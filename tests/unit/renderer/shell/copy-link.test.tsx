import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import { afterEach, expect, test, vi } from 'vitest';
import { type Host, HostProvider } from '../../../../renderer/host/host-context.tsx';
import { CopyLink } from '../../../../renderer/shell/links.tsx';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test.each([
  ['a browser', [], `${location.origin}${location.pathname}#/prompts/one/two`],
  ['the desktop app', ['app-links'], 'touchstone://open/prompts/one/two'],
])('copies the link of an object in %s and confirms it', async (_where, capabilities, link) => {
  const writeText = vi.fn(async () => {});
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } });
  render(
    <HostProvider value={{ capabilities: new Set(capabilities) } as unknown as Host}>
      <Tooltip.Provider>
        <CopyLink address="/prompts/one/two" />
      </Tooltip.Provider>
    </HostProvider>,
  );
  fireEvent.click(screen.getByRole('button', { name: 'Copy link' }));
  await screen.findByRole('button', { name: 'Copied' });
  expect(writeText).toHaveBeenCalledWith(link);
});
