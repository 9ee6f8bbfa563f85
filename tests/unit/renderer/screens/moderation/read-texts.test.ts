import { describe, expect, test } from 'vitest';
import { readTexts } from '../../../../../renderer/screens/moderation/read-texts.ts';

describe('texts of a file', () => {
  test('are its lines, but for empty ones', () => {
    expect(readTexts('a.txt', '\uFEFFone\r\n\r\n two \n')).toEqual([{ text: 'one' }, { text: ' two ' }]);
  });

  test('of JSONL are texts or objects, labels as the evaluation set names them, a missing one unknown', () => {
    const content = '"plain"\n{"prompt":"a","S":0,"V":1}\n\n{"text":"b"}\n';
    expect(readTexts('a.jsonl', content)).toEqual([
      { text: 'plain' },
      { text: 'a', labels: { sexual: false, hatred: null, harassment: null, selfHarm: null, violence: true } },
      { text: 'b' },
    ]);
  });

  test('of CSV stand under a head that names them, quotes and ends of lines included', () => {
    expect(readTexts('a.csv', 'id,Text,V\n1,"He said ""hi"",\nthen left",1\n2,fine,0\n')).toEqual([
      {
        text: 'He said "hi",\nthen left',
        labels: { sexual: null, hatred: null, harassment: null, selfHarm: null, violence: true },
      },
      { text: 'fine', labels: { sexual: null, hatred: null, harassment: null, selfHarm: null, violence: false } },
    ]);
  });

  test('of CSV without a head are its first column', () => {
    expect(readTexts('a.csv', 'one,1\ntwo,2')).toEqual([{ text: 'one' }, { text: 'two' }]);
  });

  test.each([
    ['a.jsonl', '{"text":"a"}\n{', 'Line 2 is not JSON.'],
    ['a.jsonl', '{"words":"a"}', 'Line 1 has no text'],
    ['a.csv', 'text\n"open', 'Row 2 has a quote that is not closed.'],
    ['a.txt', ' \n\n', 'There is no text in it.'],
    ['a.txt', 'a\n'.repeat(20_001), 'It has 20,001 texts'],
    ['a.txt', 'a'.repeat(4_000_000), 'It is larger than 3.8 MB.'],
  ])('that cannot be taken say why: %s', (name, content, reason) => {
    expect(() => readTexts(name, content)).toThrow(reason);
  });
});
