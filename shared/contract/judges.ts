import { z } from 'zod';
import { aiSystem } from './common.ts';
import { configuration } from './completions.ts';

const notEmpty = 'must not be empty';

/** Labels by hand that a judge needs before its verdicts count, and about as many as help. */
export const minLabels = 30;
export const usefulLabels = 50;

const passOrFail = z.strictObject({ kind: z.literal('passOrFail') }).describe('`pass` or `fail`');

const score = z
  .strictObject({
    kind: z.literal('score'),
    min: z.int().min(-100).max(100),
    max: z.int().min(-100).max(100),
    passFrom: z.int().min(-100).max(100).describe('The lowest score that passes'),
  })
  .superRefine(({ min, max, passFrom }, context) => {
    if (max <= min) context.addIssue({ code: 'custom', path: ['max'], message: 'must be above `min`' });
    else if (passFrom <= min || passFrom > max) {
      context.addIssue({ code: 'custom', path: ['passFrom'], message: 'must be above `min`, and at most `max`' });
    }
  })
  .describe('A whole number');

const preference = z
  .strictObject({ kind: z.literal('preference') })
  .describe('`first`, `second` or `tie`. Both orders are judged, and a preference that depends on the order is a tie');

export const verdictForm = z.discriminatedUnion('kind', [passOrFail, score, preference]).meta({ id: 'VerdictForm' });
export type VerdictForm = z.infer<typeof verdictForm>;

export const judgeInput = z
  .strictObject({
    name: z.string().min(1, notEmpty).max(200),
    promptText: z
      .string()
      .min(1, notEmpty)
      .max(100_000)
      .describe(
        'Template with `{{answer}}`, or with `{{first}}` and `{{second}}` for a preference, and the columns of the row. The form of the verdict is added',
      ),
    aiSystem,
    model: z.string().min(1, notEmpty).max(300),
    configuration: configuration.nullish().describe('`response_format` is set by the service'),
    verdict: verdictForm,
  })
  .meta({ id: 'JudgeInput' });
export type JudgeInput = z.infer<typeof judgeInput>;

export const judgeVerdict = z
  .object({
    judgeHash: z.string().describe('Of the judge as it was. A verdict with another hash than the judge is stale'),
    runIds: z.array(z.string()).describe('Runs in the audit: one, or two for a preference'),
    verdict: z
      .union([z.enum(['pass', 'fail', 'first', 'second', 'tie']), z.int()])
      .nullable()
      .describe('`null`: no verdict, which is never a fail'),
    pass: z.boolean().nullable().describe('`null` for a preference and without a verdict'),
    score: z.number().min(0).max(1).nullable(),
    reason: z.string(),
  })
  .meta({ id: 'JudgeVerdict' });
export type JudgeVerdict = z.infer<typeof judgeVerdict>;

const share = z.tuple([z.number(), z.number()]);

export const judgeAgreement = z
  .object({
    rows: z.int(),
    share: z.number().describe('Share of labels that the judge gives, too'),
    shareInterval: share,
    kappa: z.number().nullable().describe("Cohen's kappa; null if there is only one label"),
    interval: share.nullable(),
    labels: z.array(z.string()),
    matrix: z.array(z.array(z.int())).describe('Labels by hand in rows, those of the judge in columns'),
  })
  .meta({ id: 'JudgeAgreement' });

export const judgeCalibration = z
  .object({
    isCalibrated: z.boolean(),
    sentence: z.string().describe('How far the judge agrees, or what is missing'),
    labels: z.int(),
    labelsNeeded: z.int(),
    withoutVerdict: z.int().describe('Labelled answers on which the judge gave no verdict, or only a stale one'),
    tuning: judgeAgreement.nullable().describe('On the half to improve the prompt with'),
    heldOut: judgeAgreement.nullable().describe('On the half that nobody saw while improving it'),
  })
  .meta({ id: 'JudgeCalibration' });
export type JudgeCalibration = z.infer<typeof judgeCalibration>;
