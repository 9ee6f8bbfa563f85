import { z } from 'zod';
import { uuid } from './common.ts';
import { limitedSchema } from './limited-schema.ts';
import { categories } from './moderation.ts';

/** Checks of a comparison, those inside `all` and `any` included. */
export const maxChecks = 100;
/** Of `all` and `any` inside each other. */
export const maxCheckDepth = 5;
/** Characters of an expected text. */
const maxExpectedCharacters = 100_000;
/** The pattern is compiled on the main thread. */
export const maxPatternCharacters = 1000;
export const maxScriptCharacters = 50_000;

const common = {
  name: z.string().min(1, 'must not be empty').max(200).optional().describe('Shown instead of the kind'),
  weight: z
    .number()
    .min(0)
    .max(1000)
    .optional()
    .describe('Weight in the score of the cell, 1 by default. A check of weight 0 is shown, and decides nothing'),
  not: z.boolean().optional().describe('Whether the check passes if its condition does not hold'),
};

const expectedText = z
  .string()
  .max(maxExpectedCharacters)
  .optional()
  .describe('The expected text; `{{column}}` is replaced with the value of the row');
const expectedColumn = z.string().min(1, 'must not be empty').max(200).optional();
const expected = {
  value: expectedText,
  column: expectedColumn.describe('The column with the expected value, instead of `value`'),
};

interface Expected {
  readonly value?: string | undefined;
  readonly column?: string | undefined;
}

function checkExpected({ value, column }: Expected, context: z.RefinementCtx): void {
  if (value === undefined && column === undefined) {
    context.addIssue({ code: 'custom', path: ['value'], message: 'is required unless `column` is given' });
  } else if (value !== undefined && column !== undefined) {
    context.addIssue({ code: 'custom', path: ['column'], message: 'must not be given together with `value`' });
  }
}

interface Range {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

function checkRange({ min, max }: Range, context: z.RefinementCtx): void {
  if (min === undefined && max === undefined) {
    context.addIssue({ code: 'custom', path: ['max'], message: 'is required unless `min` is given' });
  } else if (min !== undefined && max !== undefined && min > max) {
    context.addIssue({ code: 'custom', path: ['max'], message: 'must be at least `min`' });
  }
}

const ignoreCase = z.boolean().optional();

const equals = z
  .strictObject({ kind: z.literal('equals'), ...common, ...expected, ignoreCase })
  .superRefine(checkExpected)
  .describe('The answer is the expected text, apart from white space around it');

const contains = z
  .strictObject({ kind: z.literal('contains'), ...common, ...expected, ignoreCase })
  .superRefine(checkExpected)
  .describe('The answer contains the expected text');

const regularExpression = z
  .strictObject({
    kind: z.literal('regularExpression'),
    ...common,
    pattern: z
      .string()
      .min(1, 'must not be empty')
      .max(maxPatternCharacters)
      .describe('In the syntax of RE2; `{{column}}` is replaced with the literal value of the row'),
    flags: z
      .string()
      .regex(/^[ims]{0,3}$/, 'must be some of `i`, `m` and `s`')
      .optional(),
  })
  .describe('The regular expression matches somewhere in the answer');

const jsonSchema = z
  .strictObject({ kind: z.literal('jsonSchema'), ...common, schema: limitedSchema })
  .describe('The answer is JSON that is valid against the schema');

const field = z
  .strictObject({
    kind: z.literal('field'),
    ...common,
    path: z
      .string()
      .min(1, 'must not be empty')
      .max(500)
      .describe('A JSON pointer such as `/items/0/name`, or a path such as `items.0.name`'),
    ...expected,
  })
  .superRefine(checkExpected)
  .describe('A field of the JSON answer has the expected value');

const length = z
  .strictObject({
    kind: z.literal('length'),
    ...common,
    unit: z.enum(['characters', 'words']).optional().describe('`characters` by default'),
    min: z.int().min(0).optional(),
    max: z.int().min(0).optional(),
  })
  .superRefine(checkRange)
  .describe('The answer has so many characters or words');

const latency = z
  .strictObject({ kind: z.literal('latency'), ...common, maxMs: z.number().min(0) })
  .describe('The run took no more milliseconds');

const cost = z
  .strictObject({ kind: z.literal('cost'), ...common, maxCost: z.number().min(0) })
  .describe('The run cost no more US dollars; not judged without a known price');

const similarity = z
  .strictObject({
    kind: z.literal('similarity'),
    ...common,
    ...expected,
    threshold: z.number().min(-1).max(1).optional().describe('0.8 by default'),
    transform: z
      .string()
      .min(1, 'must not be empty')
      .max(maxScriptCharacters)
      .optional()
      .describe('Code as of `javascript`, whose value is compared instead of the answer'),
  })
  .superRefine(checkExpected)
  .describe('The cosine similarity of the on-device embeddings of the answer and the expected text');

const moderation = z
  .strictObject({
    kind: z.literal('moderation'),
    ...common,
    categories: z.array(z.enum(categories)).min(1, 'must not be empty').max(categories.length).optional(),
  })
  .describe("The service's classifier flags none of the categories, all by default");

const refusal = z
  .strictObject({ kind: z.literal('refusal'), ...common })
  .describe('The model refuses to answer. Use `not` to demand an answer');

const toolCall = z
  .strictObject({
    kind: z.literal('toolCall'),
    ...common,
    tool: z.string().min(1, 'must not be empty').max(64),
    arguments: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Arguments that the call must have; it may have more. Texts may have `{{column}}`'),
  })
  .describe('The model called the tool');

const citation = z
  .strictObject({ kind: z.literal('citation'), ...common, min: z.int().min(1).max(100).optional() })
  .describe(
    'The answer cites at least so many of the passages that it got, 1 by default, as `[1]`; never a number without a passage',
  );

const javascript = z
  .strictObject({
    kind: z.literal('javascript'),
    ...common,
    code: z
      .string()
      .min(1, 'must not be empty')
      .max(maxScriptCharacters)
      .describe(
        'An expression, or the body of a function, with `answer`, `row`, `toolCalls`, `latencyMs` and `cost`. Its value is true or false, a score from 0 to 1, or `{pass, score, reason}`',
      ),
  })
  .describe(
    'Code that runs in QuickJS without access to files, network or the host, with limits of 1 second and 64 MB',
  );

const judge = z
  .strictObject({ kind: z.literal('judge'), ...common, judgeId: uuid })
  .describe('A judge passes the answer. It is shown but decides nothing until the judge is calibrated');

const simpleCheck = z.discriminatedUnion('kind', [
  equals,
  contains,
  regularExpression,
  jsonSchema,
  field,
  length,
  latency,
  cost,
  similarity,
  moderation,
  refusal,
  toolCall,
  citation,
  javascript,
  judge,
]);
export type SimpleCheck = z.infer<typeof simpleCheck>;

export interface CombinedCheck {
  kind: 'all' | 'any';
  name?: string | undefined;
  weight?: number | undefined;
  not?: boolean | undefined;
  checks: Check[];
}
export type Check = SimpleCheck | CombinedCheck;

const innerChecks = (): z.ZodType<Check[]> => z.array(check).min(1, 'must not be empty').max(maxChecks);

const all = z
  .strictObject({
    kind: z.literal('all'),
    ...common,
    get checks() {
      return innerChecks();
    },
  })
  .describe('All of the checks pass; the score is their weighted mean');
const any = z
  .strictObject({
    kind: z.literal('any'),
    ...common,
    get checks() {
      return innerChecks();
    },
  })
  .describe('At least one of the checks passes; the score is the best one');

export const check: z.ZodType<Check> = z
  .discriminatedUnion('kind', [...simpleCheck.options, all, any])
  .meta({ id: 'Check' });

/** How deep the checks are inside each other, and how many they are. */
function sizeOf(checks: readonly Check[], depth = 0): { count: number; depth: number } {
  const sizes = checks.map((each) => ('checks' in each ? sizeOf(each.checks, depth + 1) : { count: 0, depth }));
  return {
    count: sizes.reduce((sum, size) => sum + size.count, checks.length),
    depth: Math.max(depth, ...sizes.map((size) => size.depth)),
  };
}

export const checkList = z
  .array(check)
  .max(maxChecks)
  .superRefine((checks, context) => {
    const { count, depth } = sizeOf(checks);
    if (count > maxChecks)
      context.addIssue({
        code: 'custom',
        message: `must have at most ${maxChecks} checks, those inside others included`,
      });
    if (depth > maxCheckDepth)
      context.addIssue({ code: 'custom', message: `must have at most ${maxCheckDepth} checks inside each other` });
  });

export const checkResult = z
  .object({
    kind: z.string(),
    name: z.string().nullable(),
    pass: z.boolean().nullable().describe('`null`: the check could not be judged, which is never a fail'),
    score: z.number().min(0).max(1).nullable(),
    reason: z.string().describe('Why it passed, failed or was not judged'),
    counts: z
      .boolean()
      .optional()
      .describe(
        '`false` for the verdict of a judge that is not calibrated, and for `all` or `any` with no other result: it decides nothing',
      ),
    runIds: z.array(z.string()).optional().describe('Runs of the judge in the audit'),
    uncountedRunIds: z
      .array(z.string())
      .optional()
      .describe('For `all` and `any`: those of judges that are not calibrated, whose verdicts decide nothing in it'),
    cost: z.number().nullable().optional().describe('Of these runs in US dollars; null if the price is unknown'),
  })
  .meta({ id: 'CheckResult' });
export type CheckResult = z.infer<typeof checkResult>;
