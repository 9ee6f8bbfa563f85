import { RE2JS, RE2JSException } from 're2js';
import { invalidField } from '../../../shared/app-error.ts';
import type { RedactionRule } from '../../../shared/contract/audit-exports.ts';
import { findAccounts, findCards } from './find-account-numbers.ts';
import { findEmails, findPhones } from './find-contacts.ts';
import type { Finder, Place } from './found-places.ts';

/** Told of every place that a rule (by its number) is about to replace. */
export type FoundListener = (rule: number, text: string, place: Place) => void;

/**
 * Applies rules one after the other and counts what each of them found. Numbers that check digits prove come first, so that
 * no other rule takes a part of them, own patterns last.
 */
export interface Redactor {
  readonly counts: readonly number[];
  text(text: string, onFound?: FoundListener): string;
  /** The same for every text and number inside a JSON value, names of fields included. */
  value(value: unknown, onFound?: FoundListener): unknown;
}

const finders = { email: findEmails, phone: findPhones, card: findCards, account: findAccounts } as const;
const order = ['account', 'card', 'email', 'phone', 'pattern'] as const satisfies RedactionRule['kind'][];
const replacements = { email: '[e-mail]', phone: '[phone]', card: '[card]', account: '[account]' } as const;

/** A pattern runs in linear time by RE2's automaton: no text and no pattern can make it hang. */
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
    const places: Place[] = [];
    const matcher = pattern.matcher(text);
    while (matcher.find()) {
      if (matcher.end() > matcher.start()) places.push({ start: matcher.start(), end: matcher.end() });
    }
    return places;
  };
}

/** What a rule puts in place of what it finds. */
export function replacementOf(rule: RedactionRule): string {
  return rule.replacement ?? (rule.kind === 'pattern' ? `[${rule.name}]` : replacements[rule.kind]);
}

/** Throws `invalid_request` for a pattern that cannot be compiled. */
export function createRedactor(rules: readonly RedactionRule[]): Redactor {
  const compiled = rules.map((rule, index) => ({
    find: rule.kind === 'pattern' ? compilePattern(rule, index) : finders[rule.kind],
    replacement: replacementOf(rule),
    place: order.indexOf(rule.kind),
  }));
  const inOrder = [...compiled.entries()].toSorted(([, one], [, other]) => one.place - other.place);
  const counts = rules.map(() => 0);

  function text(original: string, onFound?: FoundListener): string {
    let result = original;
    for (const [rule, { find, replacement }] of inOrder) {
      const places = find(result);
      if (places.length === 0) continue;
      counts[rule]! += places.length;
      for (const place of places) onFound?.(rule, result, place);
      result = replaced(result, places, replacement);
    }
    return result;
  }

  function value(original: unknown, onFound?: FoundListener): unknown {
    if (typeof original === 'string') return text(original, onFound);
    if (typeof original === 'number') {
      const written = String(original);
      const result = text(written, onFound);
      return result === written ? original : result;
    }
    if (Array.isArray(original)) return original.map((item) => value(item, onFound));
    if (typeof original !== 'object' || original === null) return original;
    const result: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(original)) {
      Object.defineProperty(result, freeName(result, text(name, onFound)), {
        value: value(inner, onFound),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return result;
  }

  return { counts, text, value };
}

function replaced(text: string, places: readonly Place[], replacement: string): string {
  let result = '';
  let end = 0;
  for (const place of places) {
    result += text.slice(end, place.start) + replacement;
    end = place.end;
  }
  return result + text.slice(end);
}

/** Two names may become the same one; none of the values is lost. */
function freeName(taken: object, name: string): string {
  let free = name;
  for (let copy = 2; Object.hasOwn(taken, free); copy += 1) free = `${name} (${copy})`;
  return free;
}
