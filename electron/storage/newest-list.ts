import type Database from 'better-sqlite3';
import { z } from 'zod';
import { createContinuationTokens } from './continuation-token.ts';
import { listPage, type ListPage, type ListQuery } from './list-page.ts';

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
