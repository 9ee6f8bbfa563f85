// @module-tag slow
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createPromptReader, type PromptReader } from '../../../../electron/prompts/transfer/create-prompt-reader.ts';
import { promptInput } from '../../../../shared/contract/prompts.ts';
import { storedPrompt } from '../../../support/prompt-transfer.ts';
import type { ReadTask } from '../../../../electron/prompts/transfer/read-prompts.ts';

let reader: PromptReader;
afterEach(() => reader.close());

const task = (name: string, content: string): ReadTask => ({
  name,
  content,
  format: null,
  variableStyle: null,
  folder: null,
});
const waits = () => ({ signal: new AbortController().signal });

/** Within the limits of YAML, and as slow to read as it can be made. */
const slow = `prompts: [x]\nk: [${'"a",'.repeat(90_000)}]\n`;
/** Lines of JSON that become far more than they are. */
const large =
  `${JSON.stringify({ messages: [{ role: 'user', content: 'x' }], a: Array.from({ length: 2000 }, () => ({ b: [] })) })}\n`.repeat(
    900,
  );

async function greeting(): Promise<string | undefined> {
  const { prompts } = await reader.read(task('a.prompt', 'Hello {{name}}'), waits());
  return prompts[0]?.prompt.promptText;
}

/** How many turns of the event loop this thread has until then: hardly any if the work is done here. */
async function turnsUntil(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  let turns = 0;
  for (; !isDone; turns += 1) await nextTurn();
  await done;
  return turns;
}

test('rejects a file that takes too long or too much memory, and reads the next one', async () => {
  reader = createPromptReader({ milliseconds: 30, megabytes: 512 });
  const late = await reader.read(task('a.yaml', slow), waits());
  expect(late.entries).toEqual([
    { outcome: 'refused', field: 'file', message: 'The file takes too long to read', line: null },
  ]);
  await reader.close();
  reader = createPromptReader({ milliseconds: 60_000, megabytes: 24 });
  const big = await reader.read(task('a.jsonl', large), waits());
  expect(big.entries[0]?.message).toBe('The file needs too much memory to read');
  expect(await greeting()).toBe('Hello {{name}}');
});

test('an abort ends the reading, and the next one is read', async () => {
  reader = createPromptReader();
  const leaving = new AbortController();
  const read = reader.read(task('a.yaml', slow), { signal: leaving.signal });
  const next = greeting();
  leaving.abort();
  await expect(read).rejects.toThrow();
  expect(await next).toBe('Hello {{name}}');
});

test('this thread continues while a hostile file is read', async () => {
  reader = createPromptReader();
  await greeting();
  expect(await turnsUntil(reader.read(task('a.yaml', slow), waits()))).toBeGreaterThan(20);
});

test('this thread continues while a long prompt is exported', async () => {
  reader = createPromptReader();
  await greeting();
  const exported = [storedPrompt(promptInput.parse({ name: 'Long', promptText: '"\u2026\n'.repeat(500_000) }))];
  const writing = reader.write({ exported, format: 'promptfoo' }, waits());
  expect(await turnsUntil(writing)).toBeGreaterThan(20);
  const { files } = await writing;
  expect(files[0]!.content.length).toBeGreaterThan(1_500_000);
});

test('the thread rejects an export of more than 64 MB with the same error as here', async () => {
  reader = createPromptReader();
  const exported = Array.from({ length: 17 }, () =>
    storedPrompt(promptInput.parse({ name: 'Long', promptText: 'a'.repeat(4_000_000) })),
  );
  await expect(reader.write({ exported, format: 'markdown' }, waits())).rejects.toMatchObject({
    code: 'payload_too_large',
  });
});
