import { z } from 'zod';
import { keyedProviderNames } from '../provider-names.ts';

/** A UUID of any version, in the usual 8-4-4-4-12 form. */
export const uuid = z.guid({ error: 'must be a UUID' }).meta({ format: 'uuid' });

/** UTC with milliseconds, for example `2026-11-20T09:30:00.000Z`. */
export const timestamp = z.iso.datetime({ precision: 3 });

const dateTimeForm = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Whether a text in RFC 3339 format is a valid date and time. */
function isMoment(text: string): boolean {
  const parts = dateTimeForm.exec(text);
  if (parts === null) return false;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [number, ...number[]];
  const date = new Date(0);
  date.setUTCFullYear(year, month! - 1, day);
  const isDay = date.getUTCMonth() === month! - 1 && date.getUTCDate() === day;
  return isDay && hour! < 24 && minute! < 60 && second! < 60 && !Number.isNaN(Date.parse(text));
}

/** A time in callers' format (RFC 3339), in any zone: `2026-11-20T10:30:00+01:00`. */
export const dateTime = z
  .string()
  .refine(isMoment, 'must be a date and time that exists, such as 2026-11-20T09:30:00Z')
  .meta({ format: 'date-time' });

/** Providers with one key and one base address. */
export const keyedProviders = Object.keys(keyedProviderNames) as (keyof typeof keyedProviderNames)[];
export const keyedProvider = z.enum(keyedProviders).meta({ id: 'KeyedProvider' });
export type KeyedProvider = z.infer<typeof keyedProvider>;

/** The six values of the specification and `OpenAiCompatible`, whose models are written `<endpoint>/<model>`. */
export const aiSystems = ['ServiceAi', ...keyedProviders, 'OpenAiCompatible'] as const;
export const aiSystem = z.enum(aiSystems).meta({ id: 'AiSystem' });
export type AiSystem = z.infer<typeof aiSystem>;

export const errorDetail = z
  .object({
    field: z.string(),
    issue: z.string(),
    line: z.int().optional(),
    column: z.int().optional(),
  })
  .meta({ id: 'ErrorDetail' });

export const errorBody = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      details: z.array(errorDetail),
      requestId: z.string(),
    }),
  })
  .meta({ id: 'Error' });

/** Query of every list: `pageSize` 1 to 100 (20 by default) and the token of the previous response. */
export const listQuery = z.strictObject({
  pageSize: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number from 1 to 100')
    .transform(Number)
    .refine((size) => size >= 1 && size <= 100, 'must be a whole number from 1 to 100')
    .optional(),
  continuationToken: z.string().min(1, 'must not be empty').optional(),
});

/** One page of a list, newest first. `continuationToken` is null on the last page. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), continuationToken: z.string().nullable() });
}

/** How much of another program's call is recorded, from most to least. */
export const recordLevels = ['all', 'metadata', 'none'] as const;
export const recordLevel = z.enum(recordLevels);
export type RecordLevel = z.infer<typeof recordLevel>;

/** The lower of two levels. */
export function lowerLevel(one: RecordLevel, other: RecordLevel): RecordLevel {
  return recordLevels.indexOf(one) > recordLevels.indexOf(other) ? one : other;
}
