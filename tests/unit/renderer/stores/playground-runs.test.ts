import { afterEach, expect, test, vi } from 'vitest';
import type { Client } from '../../../../renderer/host/client.ts';
import { useDrafts } from '../../../../renderer/stores/playground-drafts.ts';
import { columnKey, useLiveRuns } from '../../../../renderer/stores/playground-runs.ts';

afterEach(() => vi.unstubAllGlobals());

/** A stream whose parts the test hands out. */
function openStream() {
  const parts = new TransformStream<object, object>();
  return { writer: parts.writable.getWriter(), parts: parts.readable };
}

test('answers that stream side by side are drawn together, once for each frame', async () => {
  const callbacks: FrameRequestCallback[] = [];
  vi.stubGlobal('requestAnimationFrame', (callback: FrameRequestCallback) => callbacks.push(callback));
  vi.stubGlobal('cancelAnimationFrame', () => {});
  const streams = [openStream(), openStream(), openStream(), openStream()];
  let opened = 0;
  const client = { stream: async () => ({ parts: streams[opened++]!.parts }) } as unknown as Client;
  const request = { promptText: 'Hello', aiSystem: 'Groq', model: 'm' } as const;
  const ended = streams.map((_, index) =>
    useLiveRuns.getState().start(client, { draftId: `d${index}`, request, transport: 'sse', hasReasoning: false }),
  );
  const runId = crypto.randomUUID();
  // The first state of a run is drawn at once.
  for (const { writer } of streams) await writer.write({ runId, choice: { message: {} } });
  await new Promise(setImmediate);
  let draws = 0;
  const unsubscribe = useLiveRuns.subscribe(() => (draws += 1));
  for (const { writer } of streams) {
    await writer.write({ runId, choice: { message: { content: 'word' } } });
  }
  await new Promise(setImmediate);
  expect([callbacks.length, draws]).toEqual([1, 0]);
  callbacks[0]!(0);
  const { live } = useLiveRuns.getState();
  expect([draws, streams.map((_, index) => live[`d${index}`]?.text)]).toEqual([1, ['word', 'word', 'word', 'word']]);
  unsubscribe();
  await Promise.all(streams.map(({ writer }) => writer.close()));
  await Promise.all(ended);
});

test('deleting a draft stops its run and those of its compared models, and no other', async () => {
  const { create, remove } = useDrafts.getState();
  const column = { id: 'c1', aiSystem: 'Groq', model: 'm', isGrounded: true, runId: null } as const;
  const other = create({ promptText: 'Other' });
  const deleted = create({ promptText: 'Hello', compared: [column] });
  const signals: AbortSignal[] = [];
  const client = {
    stream: (_endpoint: unknown, { signal }: { signal: AbortSignal }) => {
      signals.push(signal);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    },
  } as unknown as Client;
  const request = { promptText: 'Hello', aiSystem: 'Groq', model: 'm' } as const;
  const keys = [deleted, columnKey(deleted, 'c1'), other];
  const ended = keys.map((draftId) =>
    useLiveRuns.getState().start(client, { draftId, request, transport: 'sse', hasReasoning: false }),
  );
  remove(deleted);
  await Promise.all(ended.slice(0, 2));
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, false]);
  useLiveRuns.getState().stop(other);
  await Promise.all(ended);
});
