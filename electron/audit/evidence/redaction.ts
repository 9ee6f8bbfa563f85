import { RE2JS, RE2JSException } from 're2js';
import { invalidField } from '../../../shared/app-error.ts';
import { type RedactionRule, replacementOf } from '../../../shared/contract/audit-exports.ts';
import { unescapeWithOffsets } from '../../../shared/json-escapes.ts';
import { findSecrets } from './find-secrets.ts';
import { type Finder, findWith, joined, type Span, whole } from './spans.ts';

/** The check digit of payment cards (Luhn): every second digit from the right is doubled, and the sum is divisible by ten. */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const counted = index % 2 === 0 ? digit : digit * 2;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}

const isLetterOrDigit = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}]/u.test(character);

/** Prefixes of a text with `min` to `max` letters and digits, longest first. They don't end inside a group. */
function* partsOf(text: string, min: number, max: number): Generator<string, void, void> {
  for (let end = text.length; end >= min; end -= 1) {
    if (!isLetterOrDigit(text[end - 1]) || isLetterOrDigit(text[end])) continue;
    const part = text.slice(0, end);
    const length = part.replaceAll(/[ -]/g, '').length;
    if (length >= min && length <= max) yield part;
  }
}

function beginning(match: RegExpExecArray, part: string): Span {
  return { start: match.index, end: match.index + part.length };
}

/**
 * Card numbers start with 2 to 6 and have 13 to 19 digits; those of a fraction are none, but a list may have a comma before one. The text
 * after one, such as its date, can look like more digits of it.
 */
export const findCards: Finder = findWith(/(?<!\d|\d\.)[2-6](?:[ -]?\d){12,22}(?!\d)/g, (match) => {
  for (const part of partsOf(match[0], 13, 19)) {
    if (passesLuhn(part.replaceAll(/\D/g, ''))) return beginning(match, part);
  }
  return null;
});

/** Length of an IBAN by country, from the registry of ISO 13616. */
const ibanLengths: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 ' +
    'FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 ' +
    'LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 ' +
    'RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

function passesModulus97(iban: string): boolean {
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    for (const digit of String(Number.parseInt(character, 36))) remainder = (remainder * 10 + Number(digit)) % 97;
  }
  return remainder === 1;
}

const findIbans: Finder = findWith(/(?<![\p{L}\p{N}])[A-Za-z]{2}\d\d(?:[ -]?[A-Za-z0-9]){11,30}/gu, (match) => {
  const length = ibanLengths[match[0].slice(0, 2).toUpperCase()];
  if (length === undefined) return null;
  for (const part of partsOf(match[0] + match.input.slice(match.index + match[0].length).slice(0, 1), length, length)) {
    if (passesModulus97(part.replaceAll(/[ -]/g, ''))) return beginning(match, part);
  }
  return null;
});

/** Numbers that the text itself calls an account, in the languages of the sample texts and a few more. */
const findNamedAccounts: Finder = findWith(
  /(?<![\p{L}\p{N}])(?:account|acct|a\/c|sort code|routing|konto(?:nummer|nr)?|kto|bankleitzahl|blz|compte|cuenta|conto|rekening|conta)(?:[ .:#°-]{0,3}(?:number|nummer|nr|no|num|numéro|número|numero|n|is|ist|est|es)(?![\p{L}\p{N}])){0,2}[ .:#°-]{0,3}(\d(?:[ -]?\d){4,19})(?![\p{L}\p{N}])/dgiu,
  (match) => {
    const [start, end] = match.indices![1]!;
    return { start, end };
  },
);

/** IBANs with valid check digits, and numbers that the text calls an account. */
export const findAccounts: Finder = (text) => joined([...findIbans(text), ...findNamedAccounts(text)]);

// Every repetition in these expressions has an upper bound, so that a hostile text takes a fixed number of steps per character.

const findWrittenEmails = findWith(
  /[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu,
  whole,
);

export const findEmails: Finder = (text) => (text.includes('@') ? findWrittenEmails(text) : []);

const northAmerican = /^(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}$/;
const date = /^\d{1,2}([-./ ])\d{1,2}\1\d{2,4}$|^(?:19|20)\d\d([-./ ])(?:0?[1-9]|1[0-2])\2\d{1,2}(?!\d)/;
const octets = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/**
 * Digits are a phone number if they have a country code with `+` or `00`, a leading zero, or the North American format. Other long numbers
 * are orders, amounts and dates, and the beginning of a UUID can have digits alone.
 */
function isPhoneNumber(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '').length;
  if (digits < 7 || digits > 15 || date.test(text) || octets.test(text)) return false;
  if (/^(?:\+|00)/.test(text)) return digits >= 8;
  return /^\(?0[1-9]/.test(text) || northAmerican.test(text);
}

export const findPhones: Finder = findWith(
  /(?<![\p{L}\p{N}_+]|[\d.,:-](?=\d))\+?\(?\d(?:[ \t\u00a0()./-]{0,3}\d){6,16}(?![\p{L}\p{N}_]|[.,:-]\d|-[\dA-Fa-f]{4}-[\dA-Fa-f]{4}-)/gu,
  (match) => (isPhoneNumber(match[0]) ? whole(match) : null),
);

/** Called before a rule (by its index) replaces a match. */
export type MatchListener = (rule: number, text: string, span: Span) => void;

/**
 * Applies rules one after the other and counts the matches of each. Numbers with check digits come first, so that no other rule
 * takes a part of them, and custom patterns last.
 */
export interface Redactor {
  readonly counts: readonly number[];
  text(text: string, onMatch?: MatchListener): string;
  /** The same for every text and number inside a JSON value, including field names. */
  value(value: unknown, onMatch?: MatchListener): unknown;
}

/**
 * Also finds text that JSON escapes hide: characters as codes, and a number or word after a line end, whose n looks like a part of
 * it. Overlapping matches are joined.
 */
function findAll(find: Finder, text: string): readonly Span[] {
  if (!/\\[bfnrtu"\\/]/.test(text)) return find(text);
  const { text: readable, offsets } = unescapeWithOffsets(text);
  const escaped = find(readable).map(({ start, end }) => ({ start: offsets[start]!, end: offsets[end]! }));
  return joined([...find(text), ...escaped]);
}

const finders = {
  secret: findSecrets,
  email: findEmails,
  phone: findPhones,
  card: findCards,
  account: findAccounts,
} as const;
const order = ['secret', 'account', 'card', 'email', 'phone', 'pattern'] as const satisfies RedactionRule['kind'][];

/** RE2 runs a pattern in linear time: no text and no pattern can make it hang. */
function compilePattern(rule: Extract<RedactionRule, { kind: 'pattern' }>, index: number): Finder {
  const field = `rules[${index}].pattern`;
  let pattern: RE2JS;
  try {
    pattern = RE2JS.compile(rule.pattern, rule.isCaseSensitive === true ? 0 : RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw invalidField(
      field,
      `is not a valid regular expression: ${error.message.replace('error parsing regexp: ', '')}`,
    );
  }
  if (pattern.matcher('').find()) throw invalidField(field, 'must not match empty text');
  return (text) => {
    const spans: Span[] = [];
    const matcher = pattern.matcher(text);
    while (matcher.find()) {
      if (matcher.end() > matcher.start()) spans.push({ start: matcher.start(), end: matcher.end() });
    }
    return spans;
  };
}

/** Throws `invalid_request` for an invalid pattern. */
export function createRedactor(rules: readonly RedactionRule[]): Redactor {
  const compiled = rules.map((rule, index) => ({
    find: rule.kind === 'pattern' ? compilePattern(rule, index) : finders[rule.kind],
    replacement: replacementOf(rule),
    rank: order.indexOf(rule.kind),
  }));
  const inOrder = [...compiled.entries()].toSorted(([, one], [, other]) => one.rank - other.rank);
  const counts = rules.map(() => 0);

  function text(original: string, onMatch?: MatchListener): string {
    let result = original;
    for (const [rule, { find, replacement }] of inOrder) {
      const spans = findAll(find, result);
      if (spans.length === 0) continue;
      counts[rule]! += spans.length;
      for (const span of spans) onMatch?.(rule, result, span);
      result = replaced(result, spans, replacement);
    }
    return result;
  }

  function value(original: unknown, onMatch?: MatchListener): unknown {
    if (typeof original === 'string') return text(original, onMatch);
    if (typeof original === 'number') {
      const written = String(original);
      const result = text(written, onMatch);
      return result === written ? original : result;
    }
    if (Array.isArray(original)) return original.map((item) => value(item, onMatch));
    if (typeof original !== 'object' || original === null) return original;
    const result: Record<string, unknown> = {};
    const copies = new Map<string, number>();
    for (const [name, inner] of Object.entries(original)) {
      Object.defineProperty(result, freeName(result, text(name, onMatch), copies), {
        value: isFileId(name, inner) ? inner : value(inner, onMatch),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return result;
  }

  return { counts, text, value };
}

/** The ID of a file is its SHA-256. It identifies no person, and a redacted one would refer to no file. */
function isFileId(name: string, value: unknown): boolean {
  return name === 'fileId' && typeof value === 'string' && /^[\da-f]{64}$/.test(value);
}

function replaced(text: string, spans: readonly Span[], replacement: string): string {
  let result = '';
  let end = 0;
  for (const span of spans) {
    result += text.slice(end, span.start) + replacement;
    end = span.end;
  }
  return result + text.slice(end);
}

/** Names may become equal; no value is lost. `copies` has how many there are of each, or thousands would take minutes. */
function freeName(taken: object, name: string, copies: Map<string, number>): string {
  let free = name;
  let copy = copies.get(name) ?? 1;
  while (Object.hasOwn(taken, free)) {
    copy += 1;
    free = `${name} (${copy})`;
  }
  copies.set(name, copy);
  return free;
}
