import { z } from 'zod';
import { uuid } from './common.ts';
import { checkVariantNames, comparisonFields, comparisonName } from './comparisons.ts';
import { defineEndpoint } from './endpoint.ts';

/** As for creation. A comparison needs no name before it is created. */
export const comparisonEstimateInput = z
  .strictObject({ name: comparisonName.optional(), ...comparisonFields })
  .superRefine(checkVariantNames)
  .meta({ id: 'ComparisonEstimateInput' });
export type ComparisonEstimateInput = z.infer<typeof comparisonEstimateInput>;

const range = z.object({ low: z.number(), high: z.number() });
const tokens = range.describe('Input and output tokens');
const cost = range.nullable().describe('US dollars; null if a price is unknown');
const earlierRuns = z
  .int()
  .describe('Earlier runs that the length of the answers is known from; 0 if there are too few, and it is a guess');

export const comparisonEstimate = z
  .object({
    runs: z.int().describe('One for each row, variant and repeat'),
    judgeRuns: z.int(),
    cost,
    tokens,
    seconds: range
      .nullable()
      .describe('Without waits for rate limits; null if nothing is known about the speed of a model'),
    variants: z.array(z.object({ name: z.string(), runs: z.int(), cost, tokens, earlierRuns })),
    judges: z.array(z.object({ judgeId: uuid, name: z.string(), runs: z.int(), cost, tokens, earlierRuns })),
    sampledRows: z.int().describe('The first rows, from which the length of the prompts is known'),
    basis: z.string().describe('What the estimate is based on, as sentences'),
    detectable: z
      .string()
      .nullable()
      .describe('Which difference of pass rates so many rows can detect, as sentences; null for one variant'),
  })
  .meta({ id: 'ComparisonEstimate' });
export type ComparisonEstimate = z.infer<typeof comparisonEstimate>;

export const estimateComparison = defineEndpoint({
  id: 'estimateComparison',
  method: 'post',
  path: '/comparisons/estimate',
  access: 'manage',
  tag: 'Comparisons',
  summary: 'Estimate cost, tokens and time of a comparison',
  description:
    'Takes the body of a creation and creates nothing. Lengths of answers and times are those of earlier runs of the same prompt version and model, if there are at least five.',
  body: comparisonEstimateInput,
  response: comparisonEstimate,
});
