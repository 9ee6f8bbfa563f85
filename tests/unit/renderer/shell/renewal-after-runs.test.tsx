// @module-tag slow
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { Shell } from '../../../../renderer/shell/shell.tsx';
import { useDrafts } from '../../../../renderer/stores/playground-drafts.ts';
import { useLiveRuns } from '../../../../renderer/stores/live-runs.ts';
import { addEndpoint } from '../../../../shared/contract/providers.ts';
import { recordRun } from '../../../support/audit-runs.ts';
import { giveEverythingSize } from '../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../support/open-window.tsx';
import { type ScriptedProvider, startScriptedProvider } from '../../../support/scripted-provider.ts';

let opened: OpenWindow;
let provider: ScriptedProvider;

afterEach(async () => {
  await opened.close();
  await provider.close();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function openAudit(): Promise<void> {
  giveEverythingSize();
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: true }));
  Range.prototype.getClientRects ??= () => [] as unknown as DOMRectList;
  provider = await startScriptedProvider();
  provider.answerWith((call) =>
    call.path.endsWith('/chat/completions') ? call.chatStream(['It is so.']) : call.models(['kestrel']),
  );
  const draft = { name: 'Test', promptText: 'Hello', aiSystem: 'OpenAiCompatible', model: 'shop/kestrel' } as const;
  useDrafts.getState().create(draft);
  opened = await openWindow(<Shell />, {
    address: '/audit',
    prepare: async (client, window) => {
      await recordRun(window);
      await client.call(addEndpoint, { body: { name: 'shop', baseAddress: provider.baseAddress } });
    },
  });
  await screen.findByText('1 conversation');
}

test('a run of the playground is in the audit when it is opened again', async () => {
  await openAudit();
  opened.navigate('/playground');
  const run = await within(await screen.findByRole('toolbar', { name: 'Prompt' })).findByRole('button', {
    name: /^Run/,
  });
  act(() => void fireEvent.click(run));
  await waitFor(() => expect(useLiveRuns.getState().activeCount).toBe(1));
  await waitFor(() => expect(useLiveRuns.getState().activeCount).toBe(0));
  opened.navigate('/audit');
  await screen.findByText('2 conversations');
});

test('a run that ends moves no rows of the open audit', async () => {
  await openAudit();
  const searches = () => opened.window.requests.filter((request) => request.endsWith('/window/audit/search')).length;
  const before = searches();
  expect(before).toBeGreaterThan(0);
  await recordRun(opened.window);
  act(() => useLiveRuns.setState({ activeCount: 1 }));
  act(() => useLiveRuns.setState({ activeCount: 0 }));
  // The status bar has read the count of runs again by then.
  await screen.findByText(/^2 runs, /);
  expect(searches()).toBe(before);
  screen.getByText('1 conversation');
});
