import type { z } from 'zod';
import type { listQuery } from '../../shared/contract/common.ts';
import type { ListQuery } from '../storage/list-page.ts';

const defaultPageSize = 20;

/** What a list is asked for, with what the caller left to us. */
export function toListQuery({ pageSize, continuationToken }: z.output<typeof listQuery>): ListQuery {
  return { pageSize: pageSize ?? defaultPageSize, continuationToken: continuationToken ?? null };
}
