import { z } from 'zod';
import { aiSystem, listOf, listQuery, timestamp, uuid } from './common.ts';
import { configuration } from './completions.ts';
import { defineEndpoint } from './endpoint.ts';

const notEmpty = 'must not be empty';

const tag = 'Judges';

/** Labels by hand that a judge needs before its verdicts count. */
export const minLabels = 30;
/** More don't help much. */
export const maxLabels = 200;

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
    matrix: z
      .array(z.array(z.int()))
      .describe(
        'Labels by hand in rows, those of the judge in columns. For the calibration of a judge of preferences the sides of each pair are random, so that a variant that nearly always wins does not hide how far the judge agrees',
      ),
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
    heldOut: judgeAgreement.nullable().describe('On the half that was hidden while improving it'),
  })
  .meta({ id: 'JudgeCalibration' });
export type JudgeCalibration = z.infer<typeof judgeCalibration>;

export const judge = z
  .object({
    id: uuid,
    ...judgeInput.shape,
    promptText: z.string().describe('Empty, and `configuration` is null, for a key with only `run`'),
    hash: z.string().describe('Changes with the prompt, the model, the configuration and the form of the verdict'),
    systemMessage: z.string().describe('Sent before the prompt'),
    answerSchema: z.record(z.string(), z.unknown()).describe('JSON schema of the answer'),
    calibration: judgeCalibration,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Judge' });
export type Judge = z.infer<typeof judge>;

const handLabel = z
  .enum(['pass', 'fail', 'first', 'second', 'tie'])
  .describe('`first`, `second` or `tie` for a judge of preferences, `pass` or `fail` for any other');
export type HandLabel = z.infer<typeof handLabel>;

const judgeLabel = z
  .object({
    runId: uuid,
    otherRunId: uuid.nullable().describe('The run of the second answer; null unless the judge is one of preferences'),
    label: handLabel,
    isHeldOut: z.boolean(),
    verdict: judgeVerdict.shape.verdict.describe('Of the judge on the same answer or pair; null without one'),
    isStale: z.boolean().describe('Whether the judge has changed since its verdict'),
    createdAt: timestamp,
  })
  .meta({ id: 'JudgeLabel' });
export type JudgeLabel = z.infer<typeof judgeLabel>;

const parameters = z.object({ id: uuid });

export const listJudges = defineEndpoint({
  id: 'listJudges',
  method: 'get',
  path: '/judges',
  access: 'run',
  tag,
  summary: 'List judges',
  description: 'Newest first.',
  query: listQuery,
  response: listOf(judge),
});

export const createJudge = defineEndpoint({
  id: 'createJudge',
  method: 'post',
  path: '/judges',
  access: 'manage',
  tag,
  summary: 'Create a judge',
  description:
    'A judge is a prompt and a model that give a verdict on an answer, or compare two. Its verdicts count in comparisons after at least 30 labels by hand, and if it agrees more than by chance with those of the held-out half.',
  body: judgeInput,
  status: 201,
  response: judge,
});

export const readJudge = defineEndpoint({
  id: 'readJudge',
  method: 'get',
  path: '/judges/{id}',
  access: 'run',
  tag,
  summary: 'Read a judge with its calibration',
  description: 'The calibration counts the verdicts of the judge as it is, not those from before a change.',
  parameters,
  response: judge,
  errors: [404],
});

export const updateJudge = defineEndpoint({
  id: 'updateJudge',
  method: 'put',
  path: '/judges/{id}',
  access: 'manage',
  tag,
  summary: 'Change a judge',
  description:
    'A change of more than the name makes its verdicts stale: it has to be calibrated again, with the labels that it has.',
  parameters,
  body: judgeInput,
  response: judge,
  errors: [404],
});

export const deleteJudge = defineEndpoint({
  id: 'deleteJudge',
  method: 'delete',
  path: '/judges/{id}',
  access: 'manage',
  tag,
  summary: 'Delete a judge with its labels',
  description: 'The runs of its verdicts stay in the audit.',
  parameters,
  status: 204,
  kinds: ['empty'],
  errors: [404],
});

export const readJudgeLabels = defineEndpoint({
  id: 'readJudgeLabels',
  method: 'get',
  path: '/judges/{id}/labels',
  access: 'run',
  tag,
  summary: 'Read the labels by hand',
  description: 'Newest first, with the verdicts of the judge on the same answers.',
  parameters,
  response: z.object({ data: z.array(judgeLabel) }),
  errors: [404],
});

export const setJudgeLabel = defineEndpoint({
  id: 'setJudgeLabel',
  method: 'put',
  path: '/judges/{id}/labels/{runId}',
  access: 'manage',
  tag,
  summary: 'Label the answer of a run by hand',
  description: `For a judge of preferences, the answers of two runs, in any order. The runs must be those of the caller, unless the key has the scope \`audit\`. A judge has at most ${maxLabels} labels.`,
  parameters: z.object({ id: uuid, runId: uuid }),
  body: z.strictObject({
    label: handLabel.nullable().describe('`null` removes the label'),
    otherRunId: uuid.optional().describe('Required for a judge of preferences'),
  }),
  response: judge,
  errors: [404],
});

export const addedLabels = z.object({
  added: z.int(),
  skipped: z.int().describe('Votes that say nothing, pairs that have a label or no run, and those beyond the limit'),
});

export const labelFromVotes = defineEndpoint({
  id: 'labelFromVotes',
  method: 'post',
  path: '/judges/{id}/labels',
  access: 'manage',
  tag,
  summary: 'Label pairs by a blind vote',
  description:
    'The votes of a person become labels of a judge of preferences: one answer, the other, or a tie, also if both are bad. The vote must be finished. Labels that the judge has stay.',
  parameters,
  body: z.strictObject({ blindVoteId: uuid }),
  response: addedLabels,
  errors: [404, 409],
});

export const deleteJudgeLabels = defineEndpoint({
  id: 'deleteJudgeLabels',
  method: 'delete',
  path: '/judges/{id}/labels',
  access: 'manage',
  tag,
  summary: 'Delete all labels of a judge',
  description: 'The judge is no longer calibrated. Its verdicts and the votes of people stay.',
  parameters,
  response: judge,
  errors: [404],
});

export const calibrateJudge = defineEndpoint({
  id: 'calibrateJudge',
  method: 'post',
  path: '/judges/{id}/calibration',
  access: 'manage',
  tag,
  summary: 'Calibrate a judge',
  description:
    'Has the labelled answers or pairs judged that have no verdict of the judge as it is, and responds when all are done. Each is a run of the caller, and a pair two. Verdicts are kept if the request ends earlier.',
  parameters,
  response: judge,
  errors: [402, 404, 429, 502, 503, 504],
});

export const judgeRun = defineEndpoint({
  id: 'judgeRun',
  method: 'post',
  path: '/judges/{id}/verdicts',
  access: 'manage',
  tag,
  summary: 'Have the answer of a run judged',
  description:
    'A judge of preferences compares it with the answer of `otherRunId`, in both orders. An earlier verdict of the judge as it is on the same run is returned again.',
  parameters,
  body: z.strictObject({ runId: uuid, otherRunId: uuid.optional().describe('Required for a judge of preferences') }),
  response: judgeVerdict,
  errors: [402, 404, 429, 502, 503, 504],
});
