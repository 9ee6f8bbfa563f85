import { createHmac, timingSafeEqual } from 'node:crypto';
import type { z } from 'zod';
import { type AppError, invalidField } from '../../shared/app-error.ts';

/** 128 bits, so that a seal can't be guessed. */
const sealBytes = 16;

/** The tokens of one kind of list. A token has the position of the next page and is bound to the query. */
export interface ContinuationTokens<Position> {
  write(query: unknown, position: Position): string;
  /** Throws `invalid_request` for `continuationToken` if it is not a token of this list and this query. */
  read(query: unknown, token: string): Position;
}

/** JSON with sorted names and without absent values, so that equal queries have equal text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}

function rejectedToken(): AppError {
  return invalidField(
    'continuationToken',
    'does not belong to this query',
    'The continuationToken does not belong to this query. Send it with the filters that it was given for, or leave it out to begin again.',
  );
}

/**
 * Opaque tokens that callers can't change: the position as JSON, after an HMAC of the kind of list, the query and the position. `secret`
 * belongs to the database, so tokens stay valid after a restart and are invalid in other databases.
 */
export function createContinuationTokens<Position>(
  secret: string,
  list: string,
  positionSchema: z.ZodType<Position>,
): ContinuationTokens<Position> {
  // JSON contains no NUL, so the boundary between the two parts is unambiguous.
  const seal = (query: unknown, position: Uint8Array) =>
    createHmac('sha256', secret)
      .update(`${JSON.stringify([list, canonicalJson(query)])}\0`)
      .update(position)
      .digest()
      .subarray(0, sealBytes);

  return {
    write(query, position) {
      const bytes = Buffer.from(JSON.stringify(position));
      return Buffer.concat([seal(query, bytes), bytes]).toString('base64url');
    },
    read(query, token) {
      const bytes = Buffer.from(token, 'base64url');
      const positionBytes = bytes.subarray(sealBytes);
      // Decoding ignores stray characters and spare bits. Only the canonical encoding is accepted.
      const isWhole = bytes.length > sealBytes && bytes.toString('base64url') === token;
      if (!isWhole || !timingSafeEqual(bytes.subarray(0, sealBytes), seal(query, positionBytes))) throw rejectedToken();
      const position = positionSchema.safeParse(JSON.parse(positionBytes.toString()));
      if (!position.success) throw rejectedToken();
      return position.data;
    },
  };
}
