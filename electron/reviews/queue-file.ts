import { z } from 'zod';
import { AppError } from '../../shared/app-error.ts';
import { uuid } from '../../shared/contract/common.ts';
import { answersInput } from '../../shared/contract/reviews.ts';
import { importedRun, maxCommentCharacters, maxRequestReasonCharacters } from '../../shared/contract/review-items.ts';
import { itemTypes, maxReviewersPerItem, reviewStratum, samplingPlan } from '../../shared/contract/review-queues.ts';
import { maxAnswerCharacters, maxRubricItems, rubricInput, rubricItem } from '../../shared/contract/rubrics.ts';

/** The lines of a queue file: first the queue, then items, or reviewers and their reviews. */

/** Longer ones would block the host while they are parsed. The service cuts texts before. */
const maxLineBytes = 2 * 1_048_576;
/** Brackets, commas and colons outside of texts. A line of 2 MB has room for a million, which take seconds to check. */
const maxStructure = 12_000;
export const maxFileStrata = 1000;
/** Each item is listed with the name of its stratum. */
export const maxStratumCharacters = 2000;
export const maxRunsPerItem = 50;
export const maxPassagesPerRun = 5;

const name = z.string().min(1).max(200);
const note = z.string().max(maxAnswerCharacters).nullable();
const time = z.int().min(0).max(8_640_000_000_000_000);

/** Rubrics of other installations have the rules of those that are made here, such as different questions by their IDs. */
const fileRubric = z
  .strictObject({
    id: uuid,
    name,
    version: z.int(),
    description: z.string().nullable(),
    items: z.array(rubricItem).min(1).max(maxRubricItems),
  })
  .superRefine(({ name: title, description, items }, context) => {
    const given = items.map(({ categories, ...item }) => ({ ...item, ...(categories.length > 0 && { categories }) }));
    const { error } = rubricInput.safeParse({ name: title, description, items: given });
    for (const { path, message } of error?.issues ?? []) context.addIssue({ code: 'custom', path, message });
  });

const stratum = reviewStratum.extend({
  name: z.string().max(maxStratumCharacters),
  population: z.int().min(0),
  items: z.int().min(0),
});

const queueLine = z.strictObject({
  type: z.literal('queue'),
  format: z.literal(1),
  installationId: uuid,
  id: uuid,
  name,
  itemType: z.enum(itemTypes),
  plan: samplingPlan,
  seed: z.int().min(0),
  reviewersPerItem: z.int().min(1).max(maxReviewersPerItem),
  secondShare: z.number().min(0).max(1),
  reservationMinutes: z.int().min(1).max(1440),
  population: z.int().min(0),
  strata: z.array(stratum).max(maxFileStrata),
  rubric: fileRubric,
  createdAt: time,
});

const itemLine = z.strictObject({
  type: z.literal('item'),
  id: uuid,
  conversationId: uuid,
  runId: uuid,
  stratum: z.int().min(0),
  isFlagged: z.boolean(),
  needed: z
    .int()
    .min(1)
    .max(maxReviewersPerItem + 2),
  runs: z.array(importedRun).min(1).max(maxRunsPerItem),
  /** Who asked for one more review, which `needed` includes. Older files have none. */
  secondReview: z.strictObject({ by: name, reviewerId: uuid, at: time }).nullable().optional(),
});

const reviewerLine = z.strictObject({
  type: z.literal('reviewer'),
  id: uuid,
  name: z.string().min(1).max(100),
  installationId: uuid,
});

const reviewLine = z.strictObject({
  type: z.literal('review'),
  id: uuid,
  itemId: uuid,
  reviewerId: uuid,
  kind: z.enum(['review', 'skip']),
  answers: answersInput,
  note,
  seconds: z.number().min(0),
  createdAt: time,
  /** The reviewer's answer before this one, which comes before it in the file. Absent for a first answer, and in older files. */
  replaces: uuid.optional(),
});

const secondReviewLine = z.strictObject({
  type: z.literal('secondReview'),
  itemId: uuid,
  reviewerId: uuid,
  reason: z.string().max(maxRequestReasonCharacters).nullable(),
  createdAt: time,
});

const commentLine = z.strictObject({
  type: z.literal('comment'),
  id: uuid,
  itemId: uuid,
  reviewerId: uuid,
  text: z.string().min(1).max(maxCommentCharacters),
  createdAt: time,
});

const fileLine = z.discriminatedUnion('type', [
  queueLine,
  itemLine,
  reviewerLine,
  reviewLine,
  secondReviewLine,
  commentLine,
]);
export type FileLine = z.infer<typeof fileLine>;
export type QueueLine = z.infer<typeof queueLine>;
export type ItemLine = z.infer<typeof itemLine>;
export type ReviewerLine = z.infer<typeof reviewerLine>;
export type ReviewLine = z.infer<typeof reviewLine>;
export type SecondReviewLine = z.infer<typeof secondReviewLine>;
export type CommentLine = z.infer<typeof commentLine>;

export function invalidFile(issue: string): AppError {
  return new AppError('invalid_request', `This is not a queue file that can be read: ${issue}.`, {
    details: [{ field: 'file', issue }],
  });
}

function hasMuchStructure(bytes: Buffer): boolean {
  let isInText = false;
  let count = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]!;
    if (byte === 34) isInText = !isInText;
    else if (isInText) index += Number(byte === 92);
    else if (byte === 91 || byte === 123 || byte === 44 || byte === 58) count += 1;
  }
  return count > maxStructure;
}

function parseLine(bytes: Buffer, number: number): FileLine {
  if (hasMuchStructure(bytes)) throw invalidFile(`line ${number} has more than 12,000 lists, objects and values`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw invalidFile(`line ${number} is not JSON`);
  }
  const parsed = fileLine.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidFile(`line ${number}, ${issue!.path.join('.') || 'its type'}: ${issue!.message}`);
}

/** The lines of a file as they arrive. Throws `invalid_request` with the number of a wrong line. */
export async function* readLines(content: AsyncIterable<Buffer>): AsyncGenerator<FileLine> {
  let parts: Buffer[] = [];
  let length = 0;
  let number = 0;
  function* take(part: Buffer, isEnd: boolean): Generator<FileLine> {
    parts.push(part);
    length += part.length;
    if (length > maxLineBytes) throw invalidFile(`line ${number + 1} is longer than 2 MB`);
    if (!isEnd) return;
    number += 1;
    const line = Buffer.concat(parts);
    parts = [];
    length = 0;
    if (line.length > 0) yield parseLine(line, number);
  }
  for await (const chunk of content) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield* take(chunk.subarray(start, end), true);
      start = end + 1;
    }
    yield* take(chunk.subarray(start), false);
  }
  yield* take(Buffer.alloc(0), true);
}

/** The first line. Throws `invalid_request` for a file that starts with something else. */
export async function readQueue(lines: AsyncGenerator<FileLine>): Promise<QueueLine> {
  const { value: first } = await lines.next();
  if (first?.type !== 'queue') throw invalidFile('it does not start with a queue');
  return first;
}
