import type { ContinuationTokens } from './continuation-token.ts';

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
