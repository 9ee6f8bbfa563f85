import { useQueryClient } from '@tanstack/react-query';
import { screen, waitFor } from '@testing-library/react';
import { useEffect } from 'react';
import { afterEach, expect, test } from 'vitest';
import { WaitingForAnswer } from '../../../../renderer/components/answer-parts.tsx';
import { onDeviceKey, useOnDevice } from '../../../../renderer/queries/on-device.ts';
import type { OnDeviceState } from '../../../../shared/contract/on-device.ts';
import { openWindow, type OpenWindow } from '../../../support/open-window.tsx';

let opened: OpenWindow;
afterEach(() => opened.close());

/** Puts the engine in a state as the host's events do. */
function Engine({ loadingSince }: { loadingSince: string | null }) {
  const queryClient = useQueryClient();
  const isRead = useOnDevice().isSuccess;
  useEffect(() => {
    if (!isRead) return;
    queryClient.setQueryData<OnDeviceState>(onDeviceKey, (state) => {
      const change = { state: loadingSince === null ? 'ready' : 'loading', loadingSince } as const;
      return state && { ...state, engine: { ...state.engine, ...change } };
    });
  }, [isRead, loadingSince, queryClient]);
  return null;
}

const fourSecondsAgo = () => new Date(Date.now() - 4_400).toISOString();

async function openWaiting(aiSystem: 'ServiceAi' | 'OpenAi', model: string, loadingSince: string | null) {
  opened = await openWindow(
    <>
      <Engine loadingSince={loadingSince} />
      <WaitingForAnswer aiSystem={aiSystem} model={model} />
    </>,
  );
  await waitFor(() => expect(opened.window.requests).toEqual(expect.arrayContaining(['GET /window/models'])));
}

test('shows that the on-device model is loading, and for how long', async () => {
  await openWaiting('ServiceAi', 'hl-gpt-4.1-mini', fourSecondsAgo());
  const text = await screen.findByText(/^Loading model/);
  const [, seconds] = /^Loading model, (\d+) s$/.exec(text.textContent) ?? [];
  expect(Number(seconds)).toBeGreaterThanOrEqual(4);
  expect(screen.queryByText('Waiting for the first token')).toBeNull();
});

test.each([
  ['the on-device model is loaded', 'ServiceAi', 'hl-gpt-4.1-mini', null],
  ['another provider answers while it loads', 'OpenAi', 'gpt-4o', fourSecondsAgo()],
] as const)('waits for the first token when %s', async (_when, aiSystem, model, loadingSince) => {
  await openWaiting(aiSystem, model, loadingSince);
  expect(screen.getByText('Waiting for the first token')).toBeDefined();
  expect(screen.queryByText(/^Loading model/)).toBeNull();
});
