import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { textTokenizer } from '../../../electron/audit/index/index-database.ts';
import { textQuery, wordsIn } from '../../../electron/team/words.ts';
import { spacedText } from '../../../shared/unspaced-text.ts';

/** Letters of most scripts, and some of all other characters. */
function* characters(): Generator<string> {
  for (let code = 0x20; code < 0x30_000; code += code < 0x3000 ? 1 : 89) {
    if (code < 0xd800 || code >= 0xe000) yield String.fromCodePoint(code);
  }
}

test('words are those of the embedded index, whatever characters they have', () => {
  const database = new Database(':memory:');
  database.exec(`CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = '${textTokenizer}');
    CREATE VIRTUAL TABLE words USING fts5vocab (texts, instance)`);
  const write = database.prepare<[string]>('INSERT OR REPLACE INTO texts (rowid, text) VALUES (1, ?)');
  const read = database.prepare<[], string>('SELECT term FROM words ORDER BY "offset"').pluck();
  const indexed = (text: string) => {
    write.run(spacedText(text));
    return read.all();
  };
  const texts = [
    'ΕΛΛΆΣ όμορφη',
    'Ελλάς',
    'й Й ё Ё',
    'naïve NAÏVE',
    'a\u0305b',
    '\u0301a',
    '“quoted” – dash',
    '天气 很好',
  ];
  for (const character of characters()) texts.push(`q${character}Z`);
  const differing = texts.filter((text) => wordsIn(text).join(' ') !== indexed(text).join(' '));
  database.close();
  expect(differing).toEqual([]);
});

test('a phrase can be joined with a plus sign', () => {
  const joined = textQuery('river + "grey heron" + wait*', 'prompt');
  expect(joined).toBe("(('priver' <-> 'pgrey' <-> 'pheron' <-> 'pwait':*))");
});
