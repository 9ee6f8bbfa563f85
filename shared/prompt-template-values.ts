/** Handlebars' view of values. */

/** Whether Handlebars treats a value as empty. */
export function isEmpty(value: unknown): boolean {
  return (!value && value !== 0) || (Array.isArray(value) && value.length === 0);
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** A value never has the properties of its prototype. */
export function ownProperty(parent: unknown, name: string): unknown {
  if (parent === null || parent === undefined || !Object.hasOwn(parent as object, name)) return undefined;
  const value = (parent as Record<string, unknown>)[name];
  return typeof value === 'function' ? undefined : value;
}
