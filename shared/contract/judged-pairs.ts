import { z } from 'zod';
import { preference } from './blind-votes.ts';
import { uuid } from './common.ts';
import { comparison, comparisonParameters, variantName } from './comparisons.ts';
import { defineEndpoint } from './endpoint.ts';
import { judgeAgreement } from './judges.ts';

/** What a judge of preferences says of two variants. */

const tag = 'Comparisons';

const judgedPairsInput = z.strictObject({
  judgeId: uuid.describe('A judge of preferences'),
  variants: z.array(variantName).length(2, 'must have two names'),
});
export type JudgedPairsInput = z.infer<typeof judgedPairsInput>;

export const judgedPairs = z
  .object({
    judgeId: uuid,
    judge: z.string().describe('Its name'),
    isCalibrated: z
      .boolean()
      .describe(
        'Whether the preferences count. Before the calibration the wins are counted, but `share`, `interval`, `probability` and `pairsNeeded` are null, `verdict` is `unclear`, and the sentence says what is missing',
      ),
    calibration: z.string().describe('How far the judge agrees with labels by hand, or what is missing'),
    variants: z.array(z.object({ name: z.string(), wins: z.int() })),
    counts: z.object({
      pairs: z.int().describe('Rows with an answer of both variants'),
      judged: z.int(),
      ties: z.int().describe('Judged pairs without a winner, also because the preference depends on the order'),
      identical: z.int().describe('Pairs of equal answers, about which the judge is not asked'),
      missing: z.int().describe('Pairs without a verdict, also because the response was outside its schema'),
      stale: z.int().describe('Pairs with a verdict from before a change of the judge'),
    }),
    ...preference.shape,
    agreement: z
      .object({
        question: z.string().nullable().describe('That of the newest finished vote; null without one'),
        agreement: judgeAgreement.nullable(),
        sentence: z.string(),
      })
      .describe(
        'How far the judge prefers what people do in finished blind votes on the same variants and one question',
      ),
    warning: z.string().nullable().describe('The judge and a variant are of one family of models'),
  })
  .meta({ id: 'JudgedPairs' });
export type JudgedPairs = z.infer<typeof judgedPairs>;

export const judgePairs = defineEndpoint({
  id: 'judgePairs',
  method: 'post',
  path: '/comparisons/{id}/pairs',
  access: 'manage',
  tag,
  summary: 'Have a judge compare two variants',
  description:
    'Asks a judge of preferences about the answers of two variants to the same rows, each pair in both orders: two runs of the caller. Pairs with a verdict of the judge as it is are not asked again. Meanwhile the comparison is `Running`. 409 while it runs. Runs of other callers need the scope `audit`.',
  parameters: comparisonParameters,
  body: judgedPairsInput,
  status: 202,
  response: comparison,
  errors: [404, 409],
});

export const readJudgedPairs = defineEndpoint({
  id: 'readJudgedPairs',
  method: 'get',
  path: '/comparisons/{id}/pairs',
  access: 'run',
  tag,
  summary: 'Read which variant a judge prefers',
  description:
    'By the pairs that the judge has compared so far, without stale verdicts. They decide nothing until the judge is calibrated.',
  parameters: comparisonParameters,
  query: z.strictObject({ judgeId: uuid, first: variantName, second: variantName }),
  response: judgedPairs,
  errors: [404],
});
