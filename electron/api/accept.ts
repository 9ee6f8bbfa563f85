import { parseAccept } from 'hono/utils/accept';

/** The media types of an `Accept` header with their quality, from 0 (not accepted) to 1. */
export interface AcceptedTypes {
  /** By the most specific range that covers the type: the type itself, its group, everything. */
  quality(type: string): number;
  /** Of the type itself; 0 if the header doesn't name it. */
  namedQuality(type: string): number;
}

export function parseAcceptHeader(header: string | null): AcceptedTypes {
  const qualities = new Map<string, number>();
  for (const { type, q } of header === null ? [] : parseAccept(header)) {
    // `parseAccept` sorts by quality, so the higher quality of a repeated type counts.
    if (!qualities.has(type.toLowerCase())) qualities.set(type.toLowerCase(), q);
  }
  return {
    quality: (type) => qualities.get(type) ?? qualities.get(type.replace(/\/.*/, '/*')) ?? qualities.get('*/*') ?? 0,
    namedQuality: (type) => qualities.get(type) ?? 0,
  };
}
