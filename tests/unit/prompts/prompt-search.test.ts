import { expect, test } from 'vitest';
import type { Storage } from '../../../electron/storage/storage.ts';
import { fc } from '../../support/fast-check.ts';
import { openTestStorage } from '../storage/test-storage.ts';

function keep({ prompts }: Storage, name: string, ...texts: string[]): string {
  const rest = { systemMessage: null, aiSystem: null, model: null, configuration: null, variables: [], note: null };
  const [first, ...later] = texts.map((promptText) => ({ promptText, ...rest }));
  const { id } = prompts.create({ name, folder: null, tags: [], description: null }, first!);
  for (const version of later) prompts.addVersion(id, version);
  return id;
}

function found({ prompts }: Storage, search: string): string[] {
  const filter = { search, isOnlyDetails: false, folder: null, tags: [] };
  return prompts.list({ pageSize: 100, continuationToken: null, filter }).data.map(({ id }) => id);
}

const scripts = ['aâéÉñøß', 'ЙйЁяЖ', 'ΆάΣσς', '客户回复', 'हिन्दी', '한국어', 'จะไป', 'שלום', '0-_.{}\\%*^:', '😀👩‍💻'];
const character = fc.constantFrom(...scripts.flatMap((script) => [...script]));
const word = fc.array(character, { minLength: 1, maxLength: 8 }).map((characters) => characters.join(''));

test('finds every part of every word, in any script and position', () => {
  const storage = openTestStorage();
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 4 }),
      fc.nat(),
      fc.nat(7),
      fc.integer({ min: 1, max: 8 }),
      (words, at, from, length) => {
        const id = keep(storage, 'P', words.join(' '), 'Something else');
        const characters = [...words[at % words.length]!];
        const start = from % characters.length;
        const part = characters.slice(start, start + length).join('');
        const listed = found(storage, part);
        storage.prompts.remove(id);
        expect([part, listed]).toEqual([part, [id]]);
      },
    ),
    { numRuns: 300 },
  );
});

test('no search fails, with any input', () => {
  const storage = openTestStorage();
  keep(storage, 'P', 'a "b" NEAR(c) OR d* - ^e');
  const typed = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc
      .array(fc.constantFrom('"', 'NEAR(', ')', 'OR', 'AND', 'NOT', '*', '^', '-', ':', '\0', 'a', ' '))
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(typed, (search) => {
      expect(found(storage, search).length).toBeLessThan(2);
    }),
    { numRuns: 500 },
  );
});

test('finds once a word in the same lines of every version, and one that was moved', () => {
  const storage = openTestStorage();
  const id = keep(storage, 'P', 'zeppelin\nballoon', 'balloon\nzeppelin', 'zeppelin\nkite');
  expect(['zeppelin', 'balloon', 'kite', 'zeppelin kite'].map((search) => found(storage, search))).toEqual(
    Array.from({ length: 4 }, () => [id]),
  );
});

test('searches a letter of nearly every text in the texts, and only in those of the prompt', () => {
  const storage = openTestStorage();
  const many = Array.from({ length: 100 }, (_, index) => `_${String.fromCodePoint(0x4e00 + index)}`).join('');
  const underlined = keep(storage, 'P', many);
  keep(storage, 'Q', 'No such sign');
  const third = keep(storage, 'R', 'Without', 'With _ in a later version');
  expect(found(storage, '_')).toEqual([third, underlined]);
});

test('searches the first 65,536 characters of a version and its notes', () => {
  const storage = openTestStorage();
  const filler = 'abc '.repeat(16_000);
  const id = keep(storage, 'P', `${filler}zeppelin ${filler}balloon`);
  expect([found(storage, 'zeppelin'), found(storage, 'balloon')]).toEqual([[id], []]);
});
