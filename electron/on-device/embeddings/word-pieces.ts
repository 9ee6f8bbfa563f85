import { readFileSync } from 'node:fs';

export interface WordPieces {
  /** IDs of the first tokens of a text, at most `maximum` with the markers of its start and end. */
  tokenize(text: string, maximum: number): number[];
}

/** The parts of a `tokenizer.json` that are used: type WordPiece with BERT's normaliser and word splitting. */
interface TokenizerFile {
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
  readonly model: { readonly vocab: Readonly<Record<string, number>>; readonly max_input_chars_per_word: number };
}

/** Characters that are separate words. */
const ideographs: readonly (readonly [number, number])[] = [
  [0x4e00, 0x9fff],
  [0x3400, 0x4dbf],
  [0x20000, 0x2a6df],
  [0x2a700, 0x2b73f],
  [0x2b740, 0x2b81f],
  [0x2b920, 0x2ceaf],
  [0xf900, 0xfaff],
  [0x2f800, 0x2fa1f],
];

const isIdeograph = (character: string): boolean => {
  const code = character.codePointAt(0)!;
  return code >= 0x3400 && ideographs.some(([first, last]) => code >= first && code <= last);
};

const space = /\s/u;
const dropped = /[\0\uFFFD\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u;
const accents = /\p{Mn}/gu;
const punctuation = /[!-/:-@[-`{-~\p{P}]/u;

/** A character as the model sees it: `space` between words, and whether it is a separate word. */
interface Plain {
  readonly text: string;
  readonly kind: 'space' | 'part' | 'word';
}

const nothing: Plain = { text: '', kind: 'part' };

function toPlain(character: string): Plain {
  if (space.test(character)) return { text: '', kind: 'space' };
  if (dropped.test(character)) return nothing;
  const text = Array.from(character.normalize('NFD').replace(accents, ''), (each) => each.toLowerCase()).join('');
  const isWord = isIdeograph(character) || (text !== '' && punctuation.test(text));
  return { text, kind: isWord ? 'word' : 'part' };
}

/** Cached characters; all of ASCII repeats often. */
const plainCache = Array.from({ length: 128 }, (_, code) => toPlain(String.fromCharCode(code)));

/** The words of a text, one by one, so that only as much of a long text is read as needed. */
function* wordsOf(text: string, maximumCharacters: number): Generator<string> {
  let word = '';
  for (const character of text) {
    const plain = plainCache[character.codePointAt(0)!] ?? toPlain(character);
    if (plain.kind === 'part') {
      // Longer words are unknown, so truncating them is safe; a character may be two units long.
      if (word.length <= 2 * maximumCharacters) word += plain.text;
      continue;
    }
    if (word !== '') yield word;
    if (plain.kind === 'word') yield plain.text;
    word = '';
  }
  if (word !== '') yield word;
}

/** Reads the vocabulary of the model. Returns the same tokens as the tokenizer that the model was trained with. */
export function openWordPieces(path: string): WordPieces {
  const { added_tokens: added, model } = JSON.parse(readFileSync(path, 'utf8')) as TokenizerFile;
  const vocabulary = new Map(Object.entries(model.vocab));
  const longest = Math.max(...Array.from(vocabulary.keys(), (piece) => piece.length));
  const special = new Map(added.map(({ id, content }) => [content, id]));
  const [start, end, unknown] = ['[CLS]', '[SEP]', '[UNK]'].map((name) => special.get(name)!) as [
    number,
    number,
    number,
  ];
  const specialTokens = new RegExp(
    `(${added.map(({ content }) => content.replace(/[[\]]/gu, '\\$&')).join('|')})`,
    'u',
  );

  /** The longest vocabulary entries that form a word, or the unknown token. */
  function chunksOf(word: string): number[] {
    if (word.length > model.max_input_chars_per_word && [...word].length > model.max_input_chars_per_word) {
      return [unknown];
    }
    const chunks: number[] = [];
    for (let from = 0; from < word.length;) {
      let to = Math.min(word.length, from + longest);
      const prefix = from === 0 ? '' : '##';
      while (to > from && !vocabulary.has(prefix + word.slice(from, to))) to -= 1;
      if (to === from) return [unknown];
      chunks.push(vocabulary.get(prefix + word.slice(from, to))!);
      from = to;
    }
    return chunks;
  }

  return {
    tokenize(text, maximum) {
      const tokens = [start];
      for (const part of text.split(specialTokens)) {
        const mark = special.get(part);
        if (mark !== undefined) tokens.push(mark);
        else {
          for (const word of wordsOf(part, model.max_input_chars_per_word)) {
            tokens.push(...chunksOf(word));
            if (tokens.length >= maximum) break;
          }
        }
        if (tokens.length >= maximum) break;
      }
      return [...tokens.slice(0, maximum - 1), end];
    },
  };
}
