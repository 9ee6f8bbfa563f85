import { createRandom } from './text-writer.ts';

/** A text that has made parsers, searches and expressions slow. */
export interface HostileText {
  readonly name: string;
  /** Repeated to the requested length; for a random text, its alphabet. */
  readonly unit: string;
  readonly isRandom?: boolean;
}

function characters(first: number, last: number): string {
  return Array.from({ length: last - first + 1 }, (_, index) => String.fromCharCode(first + index)).join('');
}

/** Texts with one byte per character in memory; V8 uses other code for them than for the ones below. */
const oneByte: readonly HostileText[] = [
  { name: 'one word', unit: 'a' },
  { name: 'white space', unit: ' ' },
  { name: 'line ends', unit: '\n' },
  { name: 'carriage returns', unit: '\r' },
  { name: 'short sentences', unit: 'a. ' },
  { name: 'question marks', unit: '?' },
  { name: 'digits', unit: '1' },
  { name: 'spaced digits', unit: '4 ' },
  { name: 'backslashes', unit: '\\' },
  { name: 'quotes', unit: '"' },
  { name: 'hyphens', unit: '-' },
  { name: 'open brackets', unit: '[' },
  { name: 'open tags', unit: '<a>' },
  { name: 'comments', unit: '<!---->' },
  { name: 'closing reasoning tags', unit: '</think>' },
  { name: 'fences', unit: '```\n' },
  { name: 'pipes', unit: '|' },
  { name: 'e-mail addresses', unit: 'a@b.co ' },
  { name: 'at signs', unit: 'a@' },
  { name: 'open variables', unit: '{{' },
  { name: 'variables', unit: '{{a}}' },
  { name: 'different variables', unit: '{{a#}}' },
  { name: 'blocks', unit: '{{#if a}}x{{/if}}' },
  { name: 'open blocks', unit: '{{#a}}' },
  { name: 'Jinja statements', unit: '{%raw%}' },
  { name: 'single braces', unit: '{a' },
  { name: 'media', unit: '{{~media ' },
  // Hardly any two words or trigrams are equal, which is expensive for every index.
  { name: 'random characters', unit: characters(35, 91) + characters(93, 126), isRandom: true },
];

const twoByte: readonly HostileText[] = [
  { name: 'Han word', unit: '\u4f60' },
  { name: 'Han sentences', unit: '\u3002' },
  { name: 'curly quotes', unit: '\u201d' },
  { name: 'combining marks', unit: '\u0301' },
  { name: 'soft hyphens', unit: 'a\u00ad' },
  { name: 'emoji', unit: '\u{1f642}' },
  { name: 'joined emoji', unit: '\u{1f469}\u200d' },
  { name: 'right to left', unit: '\u202e\u05d0' },
  { name: 'no-break spaces', unit: '\u00a0\u2003' },
  { name: 'random Han', unit: characters(0x4e00, 0x9fff), isRandom: true },
];

/** Two-byte texts of the units above: a single wide character at the end widens the whole string. */
const widened = oneByte.map((text) => ({ ...text, name: `${text.name}, two-byte`, ending: '\u2026' }));

export const hostileTexts: readonly (HostileText & { ending?: string })[] = [...oneByte, ...widened, ...twoByte];

/** The text with at most so many bytes in UTF-8, with a number for each `#`. */
export function hostileText(text: HostileText & { ending?: string }, bytes: number): string {
  const { unit, ending = '' } = text;
  if (text.isRandom) {
    const random = createRandom(1);
    const letters = [...unit];
    const length = Math.floor((bytes - 8) / Buffer.byteLength(letters[0]!));
    return Array.from({ length }, () => random.pick(letters)).join('') + ending;
  }
  const numbered = unit.includes('#');
  const count = Math.floor((bytes - 8) / (Buffer.byteLength(unit) + (numbered ? 6 : 0)));
  if (!numbered) return unit.repeat(count) + ending;
  return Array.from({ length: count }, (_, index) => unit.replace('#', String(index))).join('') + ending;
}

const mebibyte = 1_048_576;

/** JSON of about 4 MB in the forms that are expensive to read. */
export function hostileBodies(): { name: string; body: string }[] {
  const room = 4 * mebibyte - 64;
  const repeated = (unit: string) => unit.repeat(Math.floor(room / unit.length));
  const numbered = (unit: (index: number) => string) =>
    Array.from({ length: Math.floor(room / (unit(100_000).length + 1)) }, (_, index) => unit(index)).join(',');
  return [
    { name: 'nested 500 levels', body: `${'['.repeat(499)}${repeated('1,').slice(0, -1_001)}1${']'.repeat(499)}` },
    { name: 'nested to the end', body: repeated('[') },
    { name: 'nested objects to the end', body: repeated('{"a":') },
    { name: 'empty lists', body: `[${repeated('[],').slice(0, -1)}]` },
    { name: 'empty objects', body: `[${repeated('{},').slice(0, -1)}]` },
    { name: 'numbers', body: `[${repeated('1,').slice(0, -1)}]` },
    { name: 'one number', body: repeated('1') },
    { name: 'different fields', body: `{${numbered((index) => `"a${index}":1`)}}` },
    { name: 'one field again and again', body: `{${repeated('"a":1,').slice(0, -1)}}` },
    { name: 'prototype fields', body: `[${numbered((index) => `{"a":{"b${index}":"__proto__"}}`)}]` },
    { name: 'escapes', body: `"${repeated('\\u0041')}"` },
    { name: 'backslashes', body: `"${repeated('\\\\')}"` },
    { name: 'unclosed text', body: `"${repeated('a')}` },
    { name: 'white space', body: repeated(' ') },
  ];
}
