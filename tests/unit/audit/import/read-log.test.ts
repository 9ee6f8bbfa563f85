import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openLog } from '../../../../electron/audit/import/read-log.ts';

const chat = (question: string) =>
  JSON.stringify({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: 'Yes' },
    ],
  });

/** The format of a log, its questions and why entries are left out. */
async function readLog(content: string | Buffer) {
  const directory = mkdtempSync(join(tmpdir(), 'read-log-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'log');
  writeFileSync(path, content);
  const { format, items } = await openLog({ path, fileName: 'calls.log', format: null, columns: {} });
  const read: string[] = [];
  for await (const { item } of items()) {
    const [part] = 'leftOut' in item ? [] : item.messages[0]!.content;
    read.push('leftOut' in item ? item.leftOut : part?.type === 'text' ? part.text : '');
  }
  return { format, read };
}

const notJson = 'Lines that are not valid JSON';

test.each([
  ['within a word', 12],
  ['before a list', chat('One?').indexOf('[')],
  ['before an object', chat('One?').indexOf('{', 1)],
])('reads a log whose first line was cut %s', async (_where, from) => {
  const log = `${chat('One?').slice(from)}\n${chat('Two?')}\n${chat('Three?')}\n`;
  expect(await readLog(log)).toEqual({ format: 'openai-chat', read: [notJson, 'Two?', 'Three?'] });
});

test('reads a log that was cut within characters at both ends', async () => {
  const log = Buffer.from(`ä"}]}\n${chat('Two?')}\n${chat('Three?').slice(0, -8)}ä`);
  expect(await readLog(log.subarray(1, -1))).toEqual({ format: 'openai-chat', read: [notJson, 'Two?', notJson] });
});

test('rejects a log with other characters than UTF-8 within it', async () => {
  const log = Buffer.concat([Buffer.from(`${chat('One?')}\n`), Buffer.from([0xe4, 10]), Buffer.from(chat('Two?'))]);
  await expect(readLog(log)).rejects.toThrow('The file is not in UTF-8.');
});

test('reads a document with an object in its second line', async () => {
  expect(await readLog(`[\n${chat('One?')}\n]\n`)).toEqual({ format: 'openai-chat', read: ['One?'] });
});

test('reads no text as a log', async () => {
  await expect(readLog('{\n"a": 1\n')).rejects.toThrow('The file is neither JSON nor lines of JSON.');
  await expect(readLog('prompt\n{"a": 1}\n')).resolves.toMatchObject({ format: 'csv' });
});

test.each(['prompt', 'question'])('reads lines with a %s as chats', async (name) => {
  const line = JSON.stringify({ [name]: 'One?', answer: 'Yes' });
  expect(await readLog(`${line}\n`)).toEqual({ format: 'openai-chat', read: ['One?'] });
});
