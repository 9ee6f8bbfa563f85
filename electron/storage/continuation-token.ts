import { createHmac, timingSafeEqual } from 'node:crypto';
import type { z } from 'zod';
import { type AppError, invalidField } from '../../shared/app-error.ts';

/** 128 bits, so that a seal can't be guessed. */
const sealBytes = 16;

/** The tokens of one kind of list: where its next page begins, sealed together with what was asked. */
export interface ContinuationTokens<Position> {
  write(query: unknown, position: Position): string;
  /** Throws `invalid_request` naming `continuationToken` for anything that was not written for this list and this query. */
  read(query: unknown, token: string): Position;
}

/** JSON with the names of every object in order and without absent values, so that equal queries have equal text. */
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
 * Tokens that callers can neither read a promise into nor change: the position as JSON after an HMAC over the kind of
 * list, the query and the position. `secret` is the database's own, so tokens survive a restart and fit no other database.
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
      // Decoding forgives stray characters and spare bits; only the one true spelling is taken.
      const isWhole = bytes.length > sealBytes && bytes.toString('base64url') === token;
      if (!isWhole || !timingSafeEqual(bytes.subarray(0, sealBytes), seal(query, positionBytes))) throw rejectedToken();
      const position = positionSchema.safeParse(JSON.parse(positionBytes.toString()));
      if (!position.success) throw rejectedToken();
      return position.data;
    },
  };
}
