function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Both objects in one, objects inside them too. Where both have a value, that of `winner` stays. */
export function mergeUnder(
  additions: Record<string, unknown>,
  winner: Record<string, unknown>,
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...additions };
  for (const [key, value] of Object.entries(winner)) {
    const addition = Object.hasOwn(additions, key) ? additions[key] : undefined;
    const isBothObjects = isPlainObject(addition) && isPlainObject(value);
    Object.defineProperty(merged, key, {
      value: isBothObjects ? mergeUnder(addition, value) : value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return merged;
}

/**
 * How the body of one call is completed: `additions` are the caller's unknown parameters, which never replace a field that
 * the service set; `fixed` is set whatever the caller says. Undefined when the body can stay as it is.
 */
export function bodyRewrite(
  additions: Record<string, unknown> | null,
  fixed: Record<string, unknown> | undefined,
): ((body: string) => string) | undefined {
  if (!additions && !fixed) return undefined;
  return (body) =>
    JSON.stringify({ ...mergeUnder(additions ?? {}, JSON.parse(body) as Record<string, unknown>), ...fixed });
}
