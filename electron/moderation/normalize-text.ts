/** A text as the classifier reads it, with the way back to the text that was sent. */
export interface NormalizedText {
  readonly text: string;
  /** For every UTF-16 unit of `text`: where the character that it came from starts in the original. */
  readonly starts: Int32Array;
  /** For every UTF-16 unit of `text`: where the character that it came from ends in the original. */
  readonly ends: Int32Array;
}

/** Letters of other scripts that look like a Latin one. They are replaced only in words that have Latin letters as well. */
const lookalikes = new Map(
  Object.entries({
    а: 'a', в: 'b', е: 'e', ѕ: 's', і: 'i', ј: 'j', к: 'k', м: 'm', н: 'h', о: 'o', р: 'p', с: 'c', т: 't', у: 'y', х: 'x',
    ԁ: 'd', ӏ: 'l', α: 'a', β: 'b', ε: 'e', η: 'n', ι: 'i', κ: 'k', ν: 'v', ο: 'o', ρ: 'p', τ: 't', υ: 'u', χ: 'x', ɑ: 'a', ı: 'i',
  }),
); // prettier-ignore

/** Digits and signs that stand for a letter when letters are on both sides of them. */
const leetLetters = new Map(
  Object.entries({ '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', $: 's', '!': 'i' }),
);

/** The few pictures that mean what the categories are about. */
const pictures = new Map(
  Object.entries({ '🖕': ' fuck you ', '🔪': ' knife ', '🔫': ' gun ', '🍆': ' penis ', '🍑': ' ass ', '💦': ' cum ', '🔞': ' porn ' }),
); // prettier-ignore

const invisible = /[\p{Cf}\p{Mn}\p{Me}\u115F\u1160\u3164\uFFA0\uFE00-\uFE0F]/u;
const isLetter = (character: string | undefined): boolean => character !== undefined && /\p{L}/u.test(character);
const isLatin = (character: string | undefined): boolean => character !== undefined && /[a-z]/i.test(character);

/** Collects the normalized units with their places. */
class Units {
  readonly characters: string[] = [];
  readonly starts: number[] = [];
  readonly ends: number[] = [];

  push(text: string, start: number, end: number): void {
    for (let index = 0; index < text.length; index += 1) {
      this.characters.push(text[index]!);
      this.starts.push(start);
      this.ends.push(end);
    }
  }
}

/** The plain form of one character: compatibility form without accents, or nothing for what cannot be seen. */
function plainForm(character: string): string {
  const code = character.charCodeAt(0);
  if (code >= 32 && code < 127) return character;
  if (character === '\n') return '\n';
  if (/\s/.test(character)) return ' ';
  if (code === 0 || invisible.test(character)) return '';
  const picture = pictures.get(character);
  if (picture !== undefined) return picture;
  return character.normalize('NFKD').replace(/\p{Mn}/gu, '');
}

function readUnits(input: string): Units {
  const units = new Units();
  let position = 0;
  for (const character of input) {
    const end = position + character.length;
    units.push(plainForm(character), position, end);
    position = end;
  }
  return units;
}

/** Shortens runs of one character to what says the same: three or more letters become one, other signs three. */
function withoutRuns(units: Units): Units {
  const kept = new Units();
  const { characters, starts, ends } = units;
  for (let first = 0; first < characters.length;) {
    const character = characters[first]!;
    let last = first;
    while (last + 1 < characters.length && characters[last + 1]!.toLowerCase() === character.toLowerCase()) last += 1;
    const length = last - first + 1;
    const keeps = length < 3 ? length : isLetter(character) || character === ' ' ? 1 : 3;
    for (let index = 0; index < keeps; index += 1) {
      kept.push(character, starts[first + index]!, index === keeps - 1 ? ends[last]! : ends[first + index]!);
    }
    first = last + 1;
  }
  return kept;
}

/** Puts Latin letters where lookalikes and leetspeak stand for them, inside one word. */
function restoreLetters(characters: string[], from: number, to: number): void {
  let hasLatin = false;
  for (let index = from; index < to; index += 1) hasLatin ||= isLatin(characters[index]);
  if (!hasLatin) return;
  const hasLetterAhead = new Uint8Array(to - from + 1);
  for (let index = to - 1; index >= from; index -= 1) {
    const isSign = leetLetters.has(characters[index]!);
    hasLetterAhead[index - from] = isSign ? hasLetterAhead[index - from + 1]! : Number(isLetter(characters[index]));
  }
  for (let index = from; index < to; index += 1) {
    const character = characters[index]!;
    const lookalike = lookalikes.get(character.toLowerCase());
    if (lookalike !== undefined) characters[index] = lookalike;
    const letter = leetLetters.get(character);
    if (letter === undefined || hasLetterAhead[index - from] === 0) continue;
    const isAfterLetter = index > from && isLetter(characters[index - 1]);
    if (isAfterLetter || (character === '$' && index === from)) characters[index] = letter;
  }
}

/** Joins single letters that are kept apart by a space or a sign each, four or more of them: `k i l l`, `k.i.l.l`. */
function joinSpreadLetters(units: Units): Units {
  const { characters, starts, ends } = units;
  const kept = new Units();
  const isEdge = (index: number) => !isLetter(characters[index]);
  for (let index = 0; index < characters.length;) {
    let letters = 0;
    if (isLetter(characters[index]) && isEdge(index - 1)) {
      const separator = characters[index + 1];
      if (separator !== undefined && /[ .\-_*]/.test(separator)) {
        while (
          isLetter(characters[index + 2 * letters]) &&
          isEdge(index + 2 * letters + 1) &&
          (letters === 0 || characters[index + 2 * letters - 1] === separator)
        ) {
          letters += 1;
        }
      }
    }
    if (letters < 4) {
      kept.push(characters[index]!, starts[index]!, ends[index]!);
      index += 1;
      continue;
    }
    for (let letter = 0; letter < letters; letter += 1) {
      const at = index + 2 * letter;
      kept.push(characters[at]!, starts[at]!, ends[at]!);
    }
    index += 2 * letters - 1;
  }
  return kept;
}

/**
 * Takes away what people hide words with: zero-width characters, accents, fullwidth and mathematical letters, lookalikes of other
 * scripts, leetspeak, stretched and spread letters. Text in other scripts stays as it is. Time and memory grow linearly.
 */
export function normalizeText(input: string): NormalizedText {
  const units = joinSpreadLetters(withoutRuns(readUnits(input)));
  const { characters } = units;
  let from = 0;
  for (let index = 0; index <= characters.length; index += 1) {
    const character = characters[index];
    if (character !== undefined && character !== ' ' && character !== '\n') continue;
    if (index > from) restoreLetters(characters, from, index);
    from = index + 1;
  }
  return { text: characters.join(''), starts: Int32Array.from(units.starts), ends: Int32Array.from(units.ends) };
}
