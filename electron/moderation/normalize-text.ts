/** A text in the classifier's form, with offsets into the original. */
export interface NormalizedText {
  readonly text: string;
  /** For every UTF-16 unit of `text`: the start of its character in the original. */
  readonly starts: Int32Array;
  /** For every UTF-16 unit of `text`: the end of its character in the original. */
  readonly ends: Int32Array;
}

/** Letters of other scripts that look like a Latin one. They are replaced only in words that also have Latin letters. */
const smallLookalikes = new Map(
  Object.entries({
    а: 'a', в: 'b', е: 'e', ѕ: 's', і: 'i', ј: 'j', к: 'k', м: 'm', н: 'h', о: 'o', р: 'p', с: 'c', т: 't', у: 'y', х: 'x',
    ԁ: 'd', ӏ: 'l', α: 'a', β: 'b', ε: 'e', η: 'n', ι: 'i', κ: 'k', ν: 'v', ο: 'o', ρ: 'p', τ: 't', υ: 'u', χ: 'x', ɑ: 'a', ı: 'i',
  }),
); // prettier-ignore

/** Greek capitals that look like another letter than their small form does. */
const capitalLookalikes = new Map(Object.entries({ Η: 'h', Μ: 'm', Ν: 'n', Ζ: 'z' }));

const lookalikes = new Map([
  ...smallLookalikes,
  ...[...smallLookalikes].map(([character, letter]) => [character.toUpperCase(), letter] as const),
  ...capitalLookalikes,
]);

/** Digits and signs that replace a letter if they are between letters. */
const leetLetters = new Map(
  Object.entries({ '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', $: 's', '!': 'i' }),
);

/** The few emoji about the subjects of the categories. */
const pictures = new Map(
  Object.entries({ '🖕': ' fuck you ', '🔪': ' knife ', '🔫': ' gun ', '🍆': ' penis ', '🍑': ' ass ', '💦': ' cum ', '🔞': ' porn ' }),
); // prettier-ignore

/** Format characters, fillers, variation selectors, and separate accents; not the vowel signs of other scripts. */
const invisible = /\p{Cf}|\p{Me}|[\u0300-\u036F]|[\u20D0-\u20FF]|[\u115F\u1160\u3164\uFFA0]|\p{Variation_Selector}/u;
const isLetterText = /\p{L}/u;

/** Whether a UTF-16 unit is a letter; undefined outside the text. */
function isLetter(unit: number | undefined): boolean {
  if (unit === undefined) return false;
  const lower = unit | 0x20;
  if (unit < 128) return lower >= 0x61 && lower <= 0x7a;
  return isLetterText.test(String.fromCharCode(unit));
}

const unitOf = (character: string) => character.charCodeAt(0);
const space = unitOf(' ');
const lineEnd = unitOf('\n');
const dollar = unitOf('$');
const separators = new Set([' ', '.', '-', '_', '*'].map(unitOf));
const byUnit = (letters: ReadonlyMap<string, string>) =>
  new Map([...letters].map(([character, letter]) => [unitOf(character), unitOf(letter)]));
const lookalikeUnits = byUnit(lookalikes);
const leetUnits = byUnit(leetLetters);

const lowerCase = (unit: number) => (unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit);

/** The normalized units with their offsets. Later steps shorten them in place, so that a large text is in memory only once. */
class Units {
  units: Uint16Array;
  starts: Int32Array;
  ends: Int32Array;
  length = 0;

  constructor(capacity: number) {
    this.units = new Uint16Array(capacity);
    this.starts = new Int32Array(capacity);
    this.ends = new Int32Array(capacity);
  }

  push(text: string, start: number, end: number): void {
    if (this.length + text.length > this.units.length) this.#grow(2 * (this.length + text.length));
    for (let index = 0; index < text.length; index += 1) this.set(this.length++, text.charCodeAt(index), start, end);
  }

  set(index: number, unit: number, start: number, end: number): void {
    this.units[index] = unit;
    this.starts[index] = start;
    this.ends[index] = end;
  }

  move(from: number, to: number): void {
    this.set(to, this.units[from]!, this.starts[from]!, this.ends[from]!);
  }

  #grow(capacity: number): void {
    const { units, starts, ends } = this;
    this.units = new Uint16Array(capacity);
    this.starts = new Int32Array(capacity);
    this.ends = new Int32Array(capacity);
    this.units.set(units);
    this.starts.set(starts);
    this.ends.set(ends);
  }
}

/** The plain form of one character: compatibility form, Latin letters without accents, or nothing for invisible characters. */
function plainForm(character: string): string {
  const code = character.charCodeAt(0);
  if (code >= 32 && code < 127) return character;
  if (character === '\n') return '\n';
  // Before white space: the byte order mark counts as both.
  if (invisible.test(character)) return '';
  if (/\s/.test(character)) return ' ';
  if (code < 32) return '';
  const picture = pictures.get(character);
  if (picture !== undefined) return picture;
  const parts = character.normalize('NFKD');
  return /^[a-z]\p{Mn}+$/iu.test(parts) ? parts.replace(/\p{Mn}/gu, '') : character.normalize('NFKC');
}

function readUnits(input: string): Units {
  const units = new Units(input.length);
  let position = 0;
  for (const character of input) {
    const end = position + character.length;
    units.push(plainForm(character), position, end);
    position = end;
  }
  return units;
}

/** Shortens repetitions of one unit: three or more letters or spaces become one, other signs three. */
function shortenRuns(text: Units): void {
  const { units, ends } = text;
  let written = 0;
  for (let first = 0; first < text.length;) {
    const unit = units[first]!;
    let last = first;
    while (last + 1 < text.length && lowerCase(units[last + 1]!) === lowerCase(unit)) last += 1;
    const run = last - first + 1;
    const keeps = run < 3 ? run : isLetter(unit) || unit === space ? 1 : 3;
    const end = ends[last]!;
    for (let index = 0; index < keeps; index += 1) text.move(first + index, written++);
    ends[written - 1] = end;
    first = last + 1;
  }
  text.length = written;
}

/** Length of a sequence of single letters with the same sign between them, counted in letters. */
function spreadLetters({ units, length }: Units, first: number): number {
  const at = (index: number) => (index < length ? units[index] : undefined);
  const separator = at(first + 1);
  if (separator === undefined || !separators.has(separator) || !isLetter(at(first))) return 0;
  let letters = 0;
  while (isLetter(at(first + 2 * letters)) && !isLetter(at(first + 2 * letters + 1))) {
    letters += 1;
    if (at(first + 2 * letters - 1) !== separator) break;
  }
  return letters;
}

/** Joins four or more single letters that a space or a sign separates: `k i l l`, `k.i.l.l`. */
function joinSpreadLetters(text: Units): void {
  const { units } = text;
  let written = 0;
  let isAfterLetter = false;
  for (let index = 0; index < text.length;) {
    const letters: number = isAfterLetter ? 0 : spreadLetters(text, index);
    isAfterLetter = letters >= 4 || isLetter(units[index]);
    const count = letters >= 4 ? letters : 1;
    for (let letter = 0; letter < count; letter += 1) text.move(index + 2 * letter, written++);
    index += 2 * count - 1;
  }
  text.length = written;
}

/** Replaces lookalikes and leetspeak inside a word by Latin letters. */
function restoreLetters({ units }: Units, from: number, to: number): void {
  let hasLatin = false;
  for (let index = from; index < to; index += 1) hasLatin ||= units[index]! < 128 && isLetter(units[index]);
  if (!hasLatin) return;
  const hasLetterAhead = new Uint8Array(to - from + 1);
  for (let index = to - 1; index >= from; index -= 1) {
    const isSign = leetUnits.has(units[index]!);
    hasLetterAhead[index - from] = isSign ? hasLetterAhead[index - from + 1]! : Number(isLetter(units[index]));
  }
  for (let index = from; index < to; index += 1) {
    const unit = units[index]!;
    const letter = lookalikeUnits.get(unit);
    if (unit >= 128 && letter !== undefined) units[index] = letter;
    const leet = leetUnits.get(unit);
    if (leet === undefined || hasLetterAhead[index - from] === 0) continue;
    const isAfterLetter = index > from && isLetter(units[index - 1]);
    if (isAfterLetter || (unit === dollar && index === from)) units[index] = leet;
  }
}

/** Characters per call: more at once would overflow the stack. */
const unitsAtOnce = 4096;

function textOf({ units, length }: Units): string {
  let text = '';
  for (let start = 0; start < length; start += unitsAtOnce) {
    text += String.fromCharCode(...units.subarray(start, Math.min(length, start + unitsAtOnce)));
  }
  return text;
}

/**
 * Removes disguises of words: zero-width characters, accents, full-width and mathematical letters, lookalikes of other scripts,
 * leetspeak, stretched and separated letters. Text in other scripts stays unchanged. Time and memory grow linearly.
 */
export function normalizeText(input: string): NormalizedText {
  const text = readUnits(input);
  shortenRuns(text);
  joinSpreadLetters(text);
  const { units, length } = text;
  let from = 0;
  for (let index = 0; index <= length; index += 1) {
    if (index < length && units[index] !== space && units[index] !== lineEnd) continue;
    if (index > from) restoreLetters(text, from, index);
    from = index + 1;
  }
  return { text: textOf(text), starts: text.starts.subarray(0, length), ends: text.ends.subarray(0, length) };
}
