import { describe, expect, test } from 'vitest';
import { readTexts } from '../../../../../renderer/screens/moderation/read-texts.ts';
import type { TextLabels } from '../../../../../shared/contract/moderation-window.ts';

const unknown: TextLabels = { sexual: null, hatred: null, harassment: null, selfHarm: null, violence: null };
const none: TextLabels = { sexual: false, hatred: false, harassment: false, selfHarm: false, violence: false };

const labelsOf = (name: string, content: string) => readTexts(name, content).map(({ labels }) => labels ?? null);

describe('texts of a file', () => {
  test('are its non-empty lines', () => {
    expect(readTexts('a.txt', '\uFEFFone\r\n\r\n two \n')).toEqual([{ text: 'one' }, { text: ' two ' }]);
  });

  test('of JSONL are texts or objects, with labels named as in the evaluation set; a missing one is unknown', () => {
    const content = '"plain"\n{"prompt":"a","S":0,"V":1}\n\n{"text":"b"}\n';
    expect(readTexts('a.jsonl', content)).toEqual([
      { text: 'plain' },
      { text: 'a', labels: { ...unknown, sexual: false, violence: true } },
      { text: 'b' },
    ]);
  });

  test('of CSV are in a named column, with quotes and line ends', () => {
    expect(readTexts('a.csv', 'id,Text,V\n1,"He said ""hi"",\nthen left",1\n2,fine,0\n')).toEqual([
      { text: 'He said "hi",\nthen left', labels: { ...unknown, violence: true } },
      { text: 'fine', labels: { ...unknown, violence: false } },
    ]);
  });

  test('of CSV without a header are its first column', () => {
    expect(readTexts('a.csv', 'one,1\ntwo,2')).toEqual([{ text: 'one' }, { text: 'two' }]);
  });

  test.each([
    ['semicolons', 'text;violence\n"a; b";1'],
    ['tabs', 'text\tviolence\na; b\t1'],
  ])('of CSV are read with the separator %s', (_, content) => {
    expect(readTexts('a.csv', content)).toEqual([{ text: 'a; b', labels: { ...unknown, violence: true } }]);
  });

  test('of CSV are the only column without a label, with any name', () => {
    expect(readTexts('a.csv', 'utterance,violence\nhello,0')).toEqual([
      { text: 'hello', labels: { ...unknown, violence: false } },
    ]);
  });

  test.each([
    ['a.jsonl', '{"text":"a"}\n{', 'Line 2 is not valid JSON.'],
    ['a.jsonl', '{"words":"a"}', 'Line 1 has no text'],
    ['a.jsonl', '[1]', 'Line 1 must be a text or an object.'],
    ['a.csv', 'text\n"open', 'Row 2 has an unclosed quote.'],
    ['a.csv', 'text\n"a" b', 'Row 2 has text after a closing quote.'],
    ['a.csv', 'text\nHello, world', 'Row 2 has 2 cells, but the header has 1.'],
    ['a.csv', 'Hello\nHello, world', 'Row 2 has 2 cells, but row 1 has 1.'],
    ['a.csv', 'left,right,violence\na,b,1', 'No text column found.'],
    ['a.txt', ' \n\n', 'The file has no text.'],
    ['a.txt', 'a\n'.repeat(20_001), 'The file has 20,001 texts.'],
    ['a.txt', 'a'.repeat(4_000_000), 'The file is larger than 3.8 MB.'],
  ])('that are invalid have the reason: %s', (name, content, reason) => {
    expect(() => readTexts(name, content)).toThrow(reason);
  });

  test('reads or rejects 3.8 MB of quotes without a delay', () => {
    expect(() => readTexts('a.csv', `text\n${'"'.repeat(3_700_001)}`)).toThrow('Row 2 has an unclosed quote.');
    expect(() => readTexts('a.csv', `text\n${'",'.repeat(1_850_000)}`)).toThrow(/^Row 2 has/);
    expect(readTexts('a.csv', `text\n"${'""'.repeat(900_000)}"`)[0]?.text).toHaveLength(900_000);
  });
});

describe('label columns', () => {
  test.each([
    ['names', 'text,sexual,hatred,harassment,selfHarm,violence'],
    ['names with dashes', 'text,Sexual,Hate,Harassment,self-harm,Violence'],
    [
      'names with underscores and a prefix',
      'text,label_sexual,label_hatred,is_harassment,label_self_harm,violence_label',
    ],
    ['names with spaces', 'text, sexual content ,Hate speech,HARASSMENT,Self harm,Violent'],
    ['letters of the evaluation set', 'text,S,H,HR,SH,V'],
    ['small letters', 'text,s,h,hr,sh,v'],
    ['letters of the screen', 'text,SX,HT,HR,SH,VI'],
  ])('are detected as %s', (_, header) => {
    expect(labelsOf('a.csv', `${header}\nkeep,1,0,1,0,1`)).toEqual([
      { sexual: true, hatred: false, harassment: true, selfHarm: false, violence: true },
    ]);
  });

  test.each(['1', 'true', 'TRUE', 'yes', 'Y', ' 1.0 '])('%j means yes', (value) => {
    expect(labelsOf('a.csv', `text,violence\na,${value}`)).toEqual([{ ...unknown, violence: true }]);
  });

  test.each(['0', 'false', 'No', 'n', '0.0'])('%j means no', (value) => {
    expect(labelsOf('a.csv', `text,violence\na,${value}`)).toEqual([{ ...unknown, violence: false }]);
  });

  test.each(['', ' ', 'null', 'NaN', 'n/a'])('%j means unknown', (value) => {
    expect(labelsOf('a.csv', `text,violence,hate\na,${value},1`)).toEqual([{ ...unknown, hatred: true }]);
  });

  test('of a sub-category make its category true, never false', () => {
    expect(labelsOf('a.csv', 'text,S3,H2,V,V2\na,1,0,0,0\nb,0,1,1,0\nc,,,1,')).toEqual([
      { ...unknown, sexual: true, violence: false },
      { ...unknown, hatred: true, violence: true },
      { ...unknown, violence: true },
    ]);
    expect(labelsOf('a.csv', 'text,self-harm/intent,hate/threatening,harassment\na,1,0,0')).toEqual([
      { ...unknown, selfHarm: true, harassment: false },
    ]);
  });

  test('are read from JSON with the same names, directly or inside "labels"', () => {
    const lines = [
      { text: 'a', 'self-harm': true, hate: 0, V: '1' },
      { text: 'b', labels: { self_harm: false, violence: 1, sexual: null } },
    ];
    expect(labelsOf('a.jsonl', lines.map((line) => JSON.stringify(line)).join('\n'))).toEqual([
      { ...unknown, selfHarm: true, hatred: false, violence: true },
      { ...unknown, selfHarm: false, violence: true },
    ]);
  });
});

describe('a column that lists categories', () => {
  test.each(['labels', 'label', 'category', 'Categories'])('can be named %s', (name) => {
    expect(labelsOf('a.csv', `text,${name}\na,violence\nb,none\nc,`)).toEqual([
      { ...none, violence: true },
      none,
      none,
    ]);
  });

  test.each(['"violence,SH"', 'violence;self-harm', 'V | Self harm', '"[""violence"", ""self_harm""]"'])(
    'contains names or letters, with any common separator: %s',
    (cell) => {
      expect(labelsOf('a.csv', `text,labels\na,${cell}`)).toEqual([{ ...none, violence: true, selfHarm: true }]);
    },
  );

  test('can be a list or a text in JSON', () => {
    const content = '{"text":"a","labels":["V","hate"]}\n{"text":"b","category":"benign"}\n{"text":"c","labels":[]}';
    expect(labelsOf('a.jsonl', content)).toEqual([{ ...none, violence: true, hatred: true }, none, none]);
  });

  test('that is empty in every row gives no labels', () => {
    expect(labelsOf('a.csv', 'text,labels\na,\nb,')).toEqual([null, null]);
  });

  test('needs no header if every second cell is a category', () => {
    expect(readTexts('a.csv', 'I will break it.,violence\nGood morning,none')).toEqual([
      { text: 'I will break it.', labels: { ...none, violence: true } },
      { text: 'Good morning', labels: none },
    ]);
  });
});

test.each([
  ['a.csv', 'text,violence\na,1\nb,maybe', 'Row 3, column "violence": "maybe" is not a label.'],
  ['a.csv', 'text,V\na,0.7', 'Row 2, column "V": "0.7" is not a label.'],
  ['a.csv', 'text,labels\na,V\nb,V;toxic', 'Row 3, column "labels": "toxic" is not a category.'],
  ['a.csv', 'text,labels\na,V none', 'Row 2, column "labels": "V none" is not a category.'],
  ['a.csv', 'text,V,violence\na,1,0', 'Row 2: the columns "V" and "violence" contradict each other.'],
  ['a.csv', 'text,violence,labels\na,0,V', 'Row 2: the columns "violence" and "labels" contradict each other.'],
  ['a.jsonl', '{"text":"a","V":2}', 'Line 1, "V": 2 is not a label.'],
  ['a.jsonl', '{"text":"a","labels":["toxic"]}', 'Line 1, "labels": "toxic" is not a category.'],
  ['a.jsonl', '{"text":"a","labels":{"V":"x"}}', 'Line 1, "labels.V": "x" is not a label.'],
  ['a.jsonl', '{"text":"a","labels":7}', 'Line 1, "labels": 7 is not a category.'],
])('rejects an invalid label with row, column and value: %s', (name, content, reason) => {
  expect(() => readTexts(name, content)).toThrow(reason);
});

test('a long value is named by its start', () => {
  expect(() => readTexts('a.csv', `text,V\na,${'x'.repeat(1000)}`)).toThrow(/: "x{40}…" is not a label/);
});
