/** Numbers in GBNF, the grammar language of llama.cpp, within the limits of a schema. */

/** Integers up to here are exact in JSON parsers that use doubles. */
const maxInteger = 999_999_999_999_999;
const fraction = '"." [0-9]{1,6}';

export const anyInteger = '"-"? ("0" | [1-9] [0-9]{0,14})';
export const anyNumber = `${anyInteger} (${fraction})?`;

/** Digits of the same length between two texts of that length. */
function digitsBetween(low: string, high: string): string {
  if (low === '') return '';
  const rest = low.length - 1;
  if (/^0+$/.test(low) && /^9+$/.test(high)) return `[0-9]{${low.length}}`;
  const [first, last] = [Number(low[0]), Number(high[0])];
  if (first === last) return `"${first}" ${digitsBetween(low.slice(1), high.slice(1))}`.trimEnd();
  const options = [`"${first}" ${digitsBetween(low.slice(1), '9'.repeat(rest))}`];
  if (last - first > 1) options.push(`[${first + 1}-${last - 1}] ${rest === 0 ? '' : `[0-9]{${rest}}`}`);
  options.push(`"${last}" ${digitsBetween('0'.repeat(rest), high.slice(1))}`);
  return `(${options.map((option) => option.trimEnd()).join(' | ')})`;
}

/** Whole numbers from `low` to `high`, which are 0 or more. Empty if there are none. */
function naturalNumbers(low: number, high: number): string[] {
  const options: string[] = [];
  for (let length = String(low).length; length <= String(high).length; length += 1) {
    const from = Math.max(low, length === 1 ? 0 : 10 ** (length - 1));
    const to = Math.min(high, 10 ** length - 1);
    if (from <= to) options.push(digitsBetween(String(from), String(to)));
  }
  return options;
}

/** Whole numbers from `low` to `high`; empty if there are none. */
function wholeNumbers(low: number, high: number): string[] {
  const negative = low < 0 ? naturalNumbers(Math.max(1, -high), -low) : [];
  const natural = high >= 0 ? naturalNumbers(Math.max(0, low), high) : [];
  return [...negative.map((digits) => `"-" ${digits}`), ...natural];
}

export interface NumberLimits {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

/** Null if no whole number is within the limits. */
export function integerGrammar(limits: NumberLimits, multipleOf: number | null): string | null | 'too many' {
  const { minimum = -maxInteger, maximum = maxInteger } = limits;
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = limits;
  const low = Math.max(-maxInteger, Math.ceil(minimum), Math.floor(exclusiveMinimum) + 1);
  const high = Math.min(maxInteger, Math.floor(maximum), Math.ceil(exclusiveMaximum) - 1);
  if (low > high) return null;
  if (multipleOf !== null && multipleOf !== 1) {
    const [first, last] = [Math.ceil(low / multipleOf), Math.floor(high / multipleOf)];
    if (last - first >= 1000) return 'too many';
    const values = Array.from({ length: last - first + 1 }, (_, index) => `"${(first + index) * multipleOf || 0}"`);
    return values.length === 0 ? null : values.join(' | ');
  }
  return low === -maxInteger && high === maxInteger ? anyInteger : wholeNumbers(low, high).join(' | ');
}

/** Numbers whose size without the sign is from `low` to `high`, both 0 or more; the fraction is on top of the whole part. */
function sizes(low: number, high: number, isLowOpen: boolean, isHighOpen: boolean): string[] {
  const [first, last] = [Math.ceil(low), Math.floor(high)];
  const isOpenAtFirst = isLowOpen && first === low;
  const options = naturalNumbers(isOpenAtFirst ? first + 1 : first, last - 1).map(
    (whole) => `(${whole}) (${fraction})?`,
  );
  // A fraction that ends with another digit than 0 is not 0.
  if (isOpenAtFirst && first < last) options.push(`"${first}." [0-9]{0,5} [1-9]`);
  if (last >= first && !(isOpenAtFirst && last === first) && !(isHighOpen && last === high)) options.push(`"${last}"`);
  return options;
}

/** Null if the limits leave no number that the grammar can write. */
export function numberGrammar(limits: NumberLimits): string | null {
  const { minimum = -Infinity, maximum = Infinity } = limits;
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = limits;
  const isLowOpen = exclusiveMinimum >= minimum && exclusiveMinimum !== -Infinity;
  const isHighOpen = exclusiveMaximum <= maximum && exclusiveMaximum !== Infinity;
  const low = Math.max(-maxInteger, minimum, exclusiveMinimum);
  const high = Math.min(maxInteger, maximum, exclusiveMaximum);
  if (low === -maxInteger && high === maxInteger) return anyNumber;
  const options: string[] = [];
  if (low < 0) {
    const negative = sizes(Math.max(0, -high), -low, high < 0 && isHighOpen, isLowOpen);
    options.push(...negative.map((size) => `"-" ${size}`));
  }
  if (high >= 0) options.push(...sizes(Math.max(0, low), high, low >= 0 && isLowOpen, isHighOpen));
  return options.length === 0 ? null : options.join(' | ');
}
