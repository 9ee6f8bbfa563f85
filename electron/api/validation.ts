import type { z } from 'zod';
import { AppError } from '../../shared/app-error.ts';
import type { listQuery } from '../../shared/contract/common.ts';
import { validate } from '../common/validate.ts';
import type { ListQuery } from '../storage/list-page.ts';

/** Validates the query string. A repeated name is `invalid_request`, because either value could be meant. */
export function validateQuery<Schema extends z.ZodType>(schema: Schema, url: string): z.output<Schema> {
  const start = url.indexOf('?');
  const values: Record<string, string> = {};
  if (start >= 0) {
    for (const [name, value] of new URLSearchParams(url.slice(start + 1).split('#', 1)[0])) {
      if (Object.hasOwn(values, name)) {
        throw new AppError('invalid_request', `${name} is given more than once.`, {
          details: [{ field: name, issue: 'is given more than once' }],
        });
      }
      Object.defineProperty(values, name, { value, enumerable: true });
    }
  }
  return validate(schema, values, 'query');
}

const defaultPageSize = 20;

/** The parameters of a list request, with defaults. */
export function toListQuery({ pageSize, continuationToken }: z.output<typeof listQuery>): ListQuery {
  return { pageSize: pageSize ?? defaultPageSize, continuationToken: continuationToken ?? null };
}
