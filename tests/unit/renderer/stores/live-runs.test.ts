import { afterEach, expect, test, vi } from 'vitest';
import type { Client } from '../../../../renderer/host/client.ts';
import { useDrafts } from '../../../../renderer/stores/playground-drafts.ts';
import { columnSlot, draftSlot, startCompletion } from '../../../../renderer/stores/completion-runs.ts';
import { dismissRun, stopRun, useLiveRuns, type CompletionSlot } from '../../../../renderer/stores/live-runs.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** A stream whose parts the test hands out. */
function openStream() {
  const parts = new TransformStream<object, object>();
  return { writer: parts.writable.getWriter(), parts: parts.readable };
}

/** Four answers that stream side by side. Frames come when the test calls for them. */
async function startFour() {
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
  const write = async (message: object): Promise<void> => {
    for (const { writer } of streams) await writer.write({ runId, choice: { message } });
    await new Promise(setImmediate);
  };
  // The first state of a run is drawn at once.
  await write({});
  return {
    callbacks,
    write: (content: string) => write({ content }),
    /** Calls the next frame and returns the texts. */
    drawFrame: async (): Promise<(string | undefined)[]> => {
      callbacks.shift()!(0);
      await new Promise(setImmediate);
      const { runs } = useLiveRuns.getState();
      return streams.map((_, index) => runs[draftSlot(`d${index}`)]?.text);
    },
    end: async () => {
      await Promise.all(streams.map(({ writer }) => writer.close()));
      await Promise.all(ended);
      // A frame that never comes would hold back those of the next test.
      for (const callback of callbacks.splice(0)) callback(0);
    },
  };
}

test('draws answers that stream side by side together, once per frame', async () => {
  const four = await startFour();
  let draws = 0;
  const unsubscribe = useLiveRuns.subscribe(() => (draws += 1));
  await four.write('word');
  expect([four.callbacks.length, draws]).toEqual([1, 0]);
  expect(await four.drawFrame()).toEqual(['word', 'word', 'word', 'word']);
  expect(draws).toBe(1);
  unsubscribe();
  await four.end();
});

test('a slow machine draws fewer answers in a frame, each in its turn, and more again when that is quick', async () => {
  let now = 0;
  let drawingMs = 20;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const four = await startFour();
  const unsubscribe = useLiveRuns.subscribe(() => (now += drawingMs));
  await four.write('a');
  expect(await four.drawFrame()).toEqual(['a', 'a', 'a', 'a']);
  await four.write('b');
  // It rests first.
  expect(await four.drawFrame()).toEqual(['a', 'a', 'a', 'a']);
  now += 1000;
  drawingMs = 2;
  expect(await four.drawFrame()).toEqual(['ab', 'a', 'a', 'a']);
  // Also the newest text of one that has waited.
  await four.write('c');
  expect(await four.drawFrame()).toEqual(['ab', 'abc', 'abc', 'a']);
  expect(await four.drawFrame()).toEqual(['abc', 'abc', 'abc', 'abc']);
  expect(four.callbacks).toEqual([]);
  unsubscribe();
  await four.end();
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
