import { AppError } from '../../../shared/app-error.ts';
import type { SimpleCheck } from '../../../shared/contract/checks.ts';
import type { RunOrigin } from '../../completions/completions.ts';
import type { Moderation } from '../../moderation/create-moderation.ts';
import type { Embeddings } from '../../on-device/embeddings.ts';
import type { SchemaChecker } from '../../schemas/create-schema-checker.ts';
import type { Judges } from '../judge/create-judges.ts';
import type { JudgingOptions } from '../judge/verdict-runs.ts';
import { kindOfFailure } from '../run-cell.ts';
import type { LocalResult } from './checks-worker.ts';
import { type CheckedRow, expectedText, NotJudged } from './expected.ts';
import type { CheckedOutput, LocalCheck, Outcome } from './local-checks.ts';

export interface CheckServices {
  readonly schemas: Pick<SchemaChecker, 'check' | 'checkAnswer'>;
  readonly embeddings: Pick<Embeddings, 'embed'>;
  readonly moderation: Pick<Moderation, 'classify'>;
  readonly judges?: Pick<Judges, 'judge' | 'kindOf' | 'familyWarning'>;
}

/** Checks that another service does. */
type ServiceCheck = Exclude<SimpleCheck, LocalCheck>;
type CheckOf<Kind extends ServiceCheck['kind']> = Extract<ServiceCheck, { kind: Kind }>;

/** A run whose answer a judge judges, and who pays for it. */
export interface JudgedRun extends JudgingOptions {
  readonly runId: string;
  /** Null after a stop or a restart: the judge isn't paid then, and only its earlier verdict is used. */
  readonly origin: RunOrigin | null;
}

interface Checked {
  readonly output: CheckedOutput;
  readonly row: CheckedRow;
  readonly services: CheckServices;
  readonly signal: AbortSignal;
  readonly judged: JudgedRun | undefined;
}

/** The embedding model reads about as much; the rest of a longer text wouldn't change its vector. */
const maxEmbeddedCharacters = 2000;
const defaultSimilarity = 0.8;

async function checkSchema({ schema }: CheckOf<'jsonSchema'>, { output, services, signal }: Checked): Promise<Outcome> {
  const found = await services.schemas.checkAnswer(schema, output.answer, { signal });
  const { outcome, reason, errors, errorCount } = found;
  if (outcome === 'valid') return { pass: true, score: 1, reason: 'The answer is valid' };
  if (outcome === 'not-json') return { pass: false, score: 0, reason: reason ?? 'The answer is not valid JSON' };
  if (outcome !== 'invalid') throw new NotJudged(reason ?? "The answer couldn't be checked");
  const [first] = errors;
  const more = errorCount > 1 ? ` and ${errorCount - 1} more` : '';
  const problem = `${first?.path || 'The answer'} ${first?.message ?? 'is not valid'}${more}`;
  return { pass: false, score: 0, reason: problem.slice(0, 1000) };
}

function dotProduct(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * other[index]!, 0);
}

async function checkSimilarity(
  check: CheckOf<'similarity'>,
  { output, row, services, signal }: Checked,
): Promise<Outcome> {
  const threshold = check.threshold ?? defaultSimilarity;
  const texts = [output.answer, expectedText(check, row)].map((text) => text.trim().slice(0, maxEmbeddedCharacters));
  if (texts.includes('')) throw new NotJudged('An empty text has no similarity');
  const [one, other] = await services.embeddings.embed(texts, { signal });
  const similarity = dotProduct(one!, other!);
  const reason = `Similarity ${similarity.toFixed(2)}, at least ${threshold} expected`;
  return { pass: similarity >= threshold, score: Math.min(Math.max(similarity, 0), 1), reason };
}

async function checkModeration(check: CheckOf<'moderation'>, { output, services, signal }: Checked): Promise<Outcome> {
  if (output.answer.trim() === '') return { pass: true, score: 1, reason: 'The answer is empty' };
  const { categories, categoryScores } = await services.moderation.classify(output.answer, { signal });
  const watched = check.categories ?? (Object.keys(categories) as (keyof typeof categories)[]);
  const flagged = watched.filter((category) => categories[category]);
  const score = 1 - Math.max(...watched.map((category) => categoryScores[category]));
  return {
    pass: flagged.length === 0,
    score,
    reason: flagged.length === 0 ? 'Not flagged' : `Flagged for ${flagged.join(', ')}`,
  };
}

async function checkWithJudge(
  { judgeId }: CheckOf<'judge'>,
  { output, row, services, signal, judged }: Checked,
): Promise<Outcome> {
  if (!services.judges || !judged) throw new NotJudged("The run isn't known to the judge");
  const { runId, ...options } = judged;
  const verdict = await services.judges.judge(judgeId, { runId, answer: output.answer, row }, { ...options, signal });
  const { pass, score, counts, runIds, cost } = verdict;
  const reason = counts ? verdict.reason : `${verdict.reason} (The judge is not calibrated.)`;
  return { pass, score, reason: reason.slice(0, 1000), counts, runIds, cost };
}

function dispatch(simple: ServiceCheck, checked: Checked): Promise<Outcome> {
  if (simple.kind === 'jsonSchema') return checkSchema(simple, checked);
  if (simple.kind === 'judge') return checkWithJudge(simple, checked);
  return simple.kind === 'similarity' ? checkSimilarity(simple, checked) : checkModeration(simple, checked);
}

/**
 * The outcome of a check, or why it couldn't be judged. Rejects only with the signal's reason, and where judges judge again with a failure
 * of one that all other cells would have.
 */
export async function runServiceCheck(simple: ServiceCheck, checked: Checked): Promise<LocalResult> {
  try {
    return await dispatch(simple, checked);
  } catch (error) {
    checked.signal.throwIfAborted();
    if (simple.kind === 'judge' && checked.judged?.asksAgain && kindOfFailure(error) === 'stopping') throw error;
    if (error instanceof NotJudged || error instanceof AppError) return error.message;
    return `The check failed: ${(error as Error).message}`.slice(0, 300);
  }
}
