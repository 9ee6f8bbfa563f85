import { z } from 'zod';
import { type ContinuationTokens, createContinuationTokens } from './continuation-token.ts';
import type Database from 'better-sqlite3';

interface Numbered {
  readonly sequence: number;
}

/** Rows that stand before a sequence, the newest of them first. */
export type RowsBefore<Row> = (input: { before: number; limit: number }) => Row[];

/** The whole rows of a table that is numbered by `sequence`. */
export function rowsOf<Row extends Numbered>(
  database: Database.Database,
  table: 'agents' | 'dataspaces',
): RowsBefore<Row> {
  const page = database.prepare<{ before: number; limit: number }, Row>(
    `SELECT * FROM ${table} WHERE sequence < :before ORDER BY sequence DESC LIMIT :limit`,
  );
  return (input) => page.all(input);
}

/**
 * A list without a filter, newest first. `name` is what its tokens are bound to; the list throws `invalid_request` for a token of
 * another one.
 */
export function newestList<Row extends Numbered, Item>(options: {
  readonly tokenSecret: string;
  readonly name: string;
  readonly rows: RowsBefore<Row>;
  readonly toItem: (row: Row) => Item;
}): (query: ListQuery) => ListPage<Item> {
  const tokens = createContinuationTokens(options.tokenSecret, options.name, z.int());
  return (query) =>
    listPage(query, {
      tokens,
      filter: {},
      rows: (before, limit) => options.rows({ before, limit }),
      positionOf: ({ sequence }) => sequence,
      toItem: options.toItem,
    });
}

/** A list that may be too long for memory: each iteration reads its items again. */
export class LazyList<Item> implements Iterable<Item> {
  readonly #items: () => Iterator<Item>;

  constructor(items: () => Iterator<Item>) {
    this.#items = items;
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#items();
  }
}

/** What a caller asks of a list. */
export interface ListQuery {
  readonly pageSize: number;
  readonly continuationToken: string | null;
}

export interface ListPage<Item> {
  readonly data: Item[];
  /** Null on the last page. */
  readonly continuationToken: string | null;
}

/**
 * One page of rows that are listed by falling position. `filter` is what the token is bound to. Throws `invalid_request` for a
 * token of another list.
 */
export function listPage<Row, Item>(
  { pageSize, continuationToken }: ListQuery,
  options: {
    readonly tokens: ContinuationTokens<number>;
    readonly filter: unknown;
    readonly rows: (before: number, limit: number) => Row[];
    readonly positionOf: (row: Row) => number;
    readonly toItem: (row: Row) => Item;
  },
): ListPage<Item> {
  const { tokens, filter } = options;
  const before = continuationToken === null ? Number.MAX_SAFE_INTEGER : tokens.read(filter, continuationToken);
  // One more than asked for tells whether there is a next page.
  const rows = options.rows(before, pageSize + 1);
  const shown = rows.slice(0, pageSize);
  return {
    data: shown.map(options.toItem),
    continuationToken: rows.length > pageSize ? tokens.write(filter, options.positionOf(shown.at(-1)!)) : null,
  };
}
