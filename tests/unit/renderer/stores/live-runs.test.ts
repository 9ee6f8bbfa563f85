import { afterEach, expect, test, vi } from 'vitest';
import type { Client } from '../../../../renderer/host/client.ts';
import { useDrafts } from '../../../../renderer/stores/playground-drafts.ts';
import { columnSlot, draftSlot, startCompletion } from '../../../../renderer/stores/completion-runs.ts';
import { dismissRun, stopRun, useLiveRuns, type CompletionSlot } from '../../../../renderer/stores/live-runs.ts';

afterEach(() => vi.unstubAllGlobals());

/** A stream whose parts the test hands out. */
function openStream() {
  const parts = new TransformStream<object, object>();
  return { writer: parts.writable.getWriter(), parts: parts.readable };
}

test('draws answers that stream side by side together, once per frame', async () => {
  const callbacks: FrameRequestCallback[] = [];
  vi.stubGlobal('requestAnimationFrame', (callback: FrameRequestCallback) => callbacks.push(callback));
  vi.stubGlobal('cancelAnimationFrame', () => {});
  const streams = [openStream(), openStream(), openStream(), openStream()];
  let opened = 0;
  const client = { stream: async () => ({ parts: streams[opened++]!.parts }) } as unknown as Client;
  const request = { promptText: 'Hello', aiSystem: 'Groq', model: 'm' } as const;
  const ended = streams.map((_, index) =>
    startCompletion(client, draftSlot(`d${index}`), { request, transport: 'sse', hasReasoning: false }),
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
  const { runs } = useLiveRuns.getState();
  expect([draws, streams.map((_, index) => runs[draftSlot(`d${index}`)]?.text)]).toEqual([
    1,
    ['word', 'word', 'word', 'word'],
  ]);
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
  const slots = [draftSlot(deleted), columnSlot(deleted, 'c1'), draftSlot(other)];
  const ended = slots.map((slot) => startCompletion(client, slot, { request, transport: 'sse', hasReasoning: false }));
  remove(deleted);
  await Promise.all(ended.slice(0, 2));
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, false]);
  stopRun(draftSlot(other));
  await Promise.all(ended);
});

/** A run that streams until the test ends it. */
function startOpenRun(slot: CompletionSlot) {
  const { writer, parts } = openStream();
  const client = { stream: async () => ({ parts }) } as unknown as Client;
  const request = { promptText: 'Hello', aiSystem: 'Groq', model: 'm' } as const;
  const ended = startCompletion(client, slot, { request, transport: 'sse', hasReasoning: false });
  return {
    end: async () => {
      await writer.close();
      return ended;
    },
  };
}

test('a run counts as active until it ends, also after another run took its slot', async () => {
  const count = () => useLiveRuns.getState().activeCount;
  const first = startOpenRun(draftSlot('one'));
  const second = startOpenRun(draftSlot('one'));
  const third = startOpenRun(draftSlot('three'));
  expect(count()).toBe(3);
  await first.end();
  expect(count()).toBe(2);
  dismissRun(draftSlot('three'));
  expect(count()).toBe(2);
  await third.end();
  await second.end();
  expect(count()).toBe(0);
});

test('a slot shows its newest run, and nothing once it is dismissed', async () => {
  const slot = draftSlot('shown');
  const first = startOpenRun(slot);
  const second = startOpenRun(slot);
  const shown = useLiveRuns.getState().runs[slot]?.key;
  await first.end();
  expect(useLiveRuns.getState().runs[slot]?.key).toBe(shown);
  dismissRun(slot);
  await second.end();
  expect(useLiveRuns.getState().runs[slot]).toBeUndefined();
});
