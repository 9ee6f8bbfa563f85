import { fireEvent, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { ShutdownNotice } from '../../../../../renderer/screens/prompts/version-notices.tsx';
import { listModels, type Model } from '../../../../../shared/contract/providers.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

let opened: OpenWindow;
afterEach(() => opened.close());

const version = { id: '11111111-1111-4111-8111-111111111111', promptId: 'p', number: 2 };

/** The notice of a version on a model that the catalogue says will end, with a replacement. */
async function show(runs: number): Promise<Model> {
  let ending: Model | undefined;
  opened = await openWindow(<Shown />, {
    prepare: async (client) => {
      const { data } = await client.call(listModels, {});
      ending = data.find(({ shutdownDate, replacement }) => shutdownDate !== null && replacement !== null);
    },
  });
  function Shown() {
    return <ShutdownNotice model={ending!} version={version} runs={runs} />;
  }
  return ending!;
}

test('a version with runs offers a comparison with the replacement, which is preselected', async () => {
  const { replacement } = await show(3);
  expect(screen.getByRole('link', { name: `Try ${replacement}` })).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'compare with its runs' }));
  const dialog = await screen.findByRole('dialog', { name: 'Replay 3 runs of version 2' });
  expect(dialog.textContent).toContain(replacement);
});

test('a version that never ran has nothing to compare', async () => {
  await show(0);
  expect(screen.queryByRole('button', { name: /compare/ })).toBeNull();
});
