import { expect, test } from 'vitest';
import { z } from 'zod';
import { type SampleData, sampleData } from '../../../../electron/audit/samples/sample-data.ts';

const text = z.string().min(1);

const topic = z.strictObject({
  name: text,
  team: z.enum(['support', 'engineering', 'legal', 'research', 'localisation', 'sales']),
  language: z.enum(['en', 'de', 'fr', 'es', 'it', 'nl']),
  systemMessage: text.nullable(),
  promptText: text,
  replacements: z.record(text, text),
  answer: text,
  next: z.array(z.strictObject({ instruction: text, answer: text })),
});

const valueNames = [
  'people',
  'cities',
  'products',
  'companies',
  'streets',
  'days',
  'months',
  'modules',
  'phones',
  'cards',
  'ibans',
] as const;

const schema: z.ZodType<SampleData> = z.strictObject({
  values: z.record(z.enum(valueNames), z.array(text).min(1)),
  opinions: z.record(
    z.enum(['good', 'middling', 'bad']),
    z.array(z.strictObject({ text: text.nullable(), tags: text.nullable() })).min(1),
  ),
  failures: z
    .array(
      z.strictObject({
        code: z.enum(['rate_limited', 'provider_overloaded', 'provider_silent', 'provider_failed']),
        message: text,
      }),
    )
    .min(1),
  topics: z.record(z.enum(['support', 'engineering', 'legal', 'research', 'translation']), z.array(topic).min(1)),
});

test('the sample data file matches its declared type', () => {
  expect(schema.parse(sampleData)).toEqual(sampleData);
});
