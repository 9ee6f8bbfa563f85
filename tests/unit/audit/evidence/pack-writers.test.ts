import { appendFileSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pageName } from '../../../../electron/audit/evidence/html-page.ts';
import {
  createCsvWriter,
  createHtmlWriter,
  createJsonLinesWriter,
  type PackWriter,
} from '../../../../electron/audit/evidence/pack-writers.ts';
import { temporaryDirectory } from '../../storage/test-storage.ts';

const conversations = 501;
const head = { name: 'Pack', details: [['As of', 'now']] as const, pages: 3, timeZone: 'UTC' };

/** Opens all writers where `written` conversations and files of these lengths are done. */
function openWriters(folder: string, lengths: Record<string, number>, written: number): Promise<PackWriter[]> {
  return Promise.all([
    createHtmlWriter(folder, lengths, head, written),
    createJsonLinesWriter(folder, lengths),
    createCsvWriter(folder, lengths, ['conversationName', 'content']),
  ]);
}

async function write(writers: readonly PackWriter[], from: number, to: number): Promise<Record<string, number>> {
  for (let position = from; position < to; position += 1) {
    const records = [{ conversationName: `Number ${position}`, content: 'é '.repeat(position % 7) }];
    for (const writer of writers) await writer.write(position, records, []);
  }
  return Object.assign({}, ...(await Promise.all(writers.map((writer) => writer.sync()))));
}

async function end(writers: readonly PackWriter[]): Promise<void> {
  for (const writer of writers) {
    await writer.end();
    await writer.sync();
    await writer.close();
  }
}

function filesOf(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

describe('resumed files', () => {
  // A page holds 250 conversations.
  test.each([0, 1, 249, 250, 251, 499, 500, 501])(
    'after %i conversations equal files that were written at once',
    async (stop) => {
      const [whole, resumed] = [join(temporaryDirectory(), 'a'), join(temporaryDirectory(), 'b')];
      for (const folder of [whole, resumed]) mkdirSync(folder);
      const writers = await openWriters(whole, {}, 0);
      await write(writers, 0, conversations);
      await end(writers);

      const first = await openWriters(resumed, {}, 0);
      const lengths = await write(first, 0, stop);
      // What was written after the last checkpoint is still there when the next host begins.
      await write(first, stop, Math.min(stop + 3, conversations));
      for (const writer of first) await writer.close();
      const open = ['evidence.jsonl', 'evidence.csv', pageName(Math.max(1, Math.ceil(stop / 250)))];
      for (const name of open) appendFileSync(join(resumed, name), 'what a killed host wrote last'.repeat(9999));
      const second = await openWriters(resumed, lengths, stop);
      await write(second, stop, conversations);
      await end(second);
      expect(filesOf(resumed)).toEqual(filesOf(whole));
      expect(Object.keys(filesOf(whole))).toHaveLength(5);
    },
  );
});
