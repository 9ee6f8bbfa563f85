/** Deeper values could overflow the stack of `JSON.stringify`. */
const maxDepth = 500;

/** The maximum indentation of `JSON.stringify`. */
const maxIndent = 10;

export class TooDeepError extends Error {}

/**
 * `JSON.stringify` of a parsed JSON value in bounded time. `charge` is called first for every value inside, with the approximate
 * length of its text, and may throw. Undefined has no text. Throws `TooDeepError`.
 */
export function jsonText(value: unknown, indent: unknown, charge: (characters: number) => void): string | undefined {
  const space = typeof indent === 'number' || typeof indent === 'string' ? indent : 0;
  const width = Math.min(maxIndent, typeof space === 'number' ? Math.max(0, space) : space.length);
  const measure = (inner: unknown, depth: number): void => {
    if (depth > maxDepth) throw new TooDeepError(`the value is nested deeper than ${maxDepth} levels`);
    charge((typeof inner === 'string' ? inner.length : 8) + depth * width);
    if (Array.isArray(inner)) for (const item of inner) measure(item, depth + 1);
    else if (typeof inner === 'object' && inner !== null) {
      for (const key in inner) {
        charge(key.length);
        measure((inner as Record<string, unknown>)[key], depth + 1);
      }
    }
  };
  measure(value, 0);
  return JSON.stringify(value, null, space);
}
