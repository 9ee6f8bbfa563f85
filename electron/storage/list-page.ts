import { z } from 'zod';
import { type ContinuationTokens, createContinuationTokens } from './continuation-token.ts';
import type Database from 'better-sqlite3';

interface Numbered {
  readonly sequence: number;
}

/** Rows before a sequence, newest first. */
export type RowsBefore<Row> = (input: { before: number; limit: number }) => Row[];

/** Rows of a table that is ordered by `sequence`. */
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
 * A list without a filter, newest first. Its tokens are bound to `name`. Throws `invalid_request` for a token of another list.
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

/** A list that may be too long for memory. Each iteration reads its items again. */
export class LazyList<Item> implements Iterable<Item> {
  readonly #items: () => Iterator<Item>;

  constructor(items: () => Iterator<Item>) {
    this.#items = items;
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#items();
  }
}

/** As `LazyList`, of items that are on another computer. */
export class AwaitedList<Item> implements AsyncIterable<Item> {
  readonly #items: () => AsyncIterator<Item>;

  constructor(items: () => AsyncIterator<Item>) {
    this.#items = items;
  }

  [Symbol.asyncIterator](): AsyncIterator<Item> {
    return this.#items();
  }
}

/** The page that a caller requests. */
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
 * One page of rows in descending order. The token is bound to `filter`. Throws `invalid_request` for a token of another list.
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
  // Reads one more row to know whether there is a next page.
  const rows = options.rows(before, pageSize + 1);
  const shown = rows.slice(0, pageSize);
  return {
    data: shown.map(options.toItem),
    continuationToken: rows.length > pageSize ? tokens.write(filter, options.positionOf(shown.at(-1)!)) : null,
  };
}
