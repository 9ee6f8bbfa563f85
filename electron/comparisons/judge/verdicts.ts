import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JudgeInput, JudgeVerdict, VerdictForm } from '../../../shared/contract/judges.ts';
import type { JsonSchema } from '../../../shared/json-schema.ts';
import { turnedPreference } from '../../storage/judge-store.ts';

/** What a judge's answer says, or why it says nothing. */
export type ParsedVerdict = Pick<JudgeVerdict, 'verdict' | 'pass' | 'score' | 'reason'>;

const maxReasonCharacters = 5000;

export function noVerdict(reason: string): ParsedVerdict {
  return { verdict: null, pass: null, score: null, reason };
}

/** The schema of a judge's answer. The reason comes first, so that the model gives it before it decides. */
export function verdictSchema(form: VerdictForm): JsonSchema {
  const verdict = {
    passOrFail: () => ({ type: 'string', enum: ['pass', 'fail'] }),
    score: () => ({ type: 'integer', ...(form.kind === 'score' && { minimum: form.min, maximum: form.max }) }),
    preference: () => ({ type: 'string', enum: ['first', 'second', 'tie'] }),
  }[form.kind]();
  return {
    type: 'object',
    properties: { reason: { type: 'string' }, verdict },
    required: ['reason', 'verdict'],
    additionalProperties: false,
  };
}

function shapeOf(form: VerdictForm) {
  if (form.kind === 'score')
    return z.strictObject({ reason: z.string(), verdict: z.int().min(form.min).max(form.max) });
  const labels = form.kind === 'passOrFail' ? (['pass', 'fail'] as const) : (['first', 'second', 'tie'] as const);
  return z.strictObject({ reason: z.string(), verdict: z.enum(labels) });
}

/** Reads a judge's answer. It is never repaired: what is outside the schema is no verdict. */
export function parseVerdict(form: VerdictForm, answer: string): ParsedVerdict {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch {
    return noVerdict('The judge did not answer with JSON');
  }
  const parsed = shapeOf(form).safeParse(value);
  if (!parsed.success) return noVerdict('The answer of the judge is outside its schema');
  const { verdict } = parsed.data;
  const reason = parsed.data.reason.slice(0, maxReasonCharacters);
  if (typeof verdict === 'number' && form.kind === 'score') {
    return { verdict, pass: verdict >= form.passFrom, score: (verdict - form.min) / (form.max - form.min), reason };
  }
  if (form.kind === 'preference') return { verdict, pass: null, score: null, reason };
  return { verdict, pass: verdict === 'pass', score: verdict === 'pass' ? 1 : 0, reason };
}

/**
 * The preference of both orders; `inverse` had the answers the other way round. Models prefer an answer for its position, so only one that is
 * preferred in both orders wins: L. Zheng et al. (2023), Judging LLM-as-a-judge with MT-Bench and Chatbot Arena. arXiv 2306.05685.
 */
export function combineOrders(inOrder: ParsedVerdict, inverse: ParsedVerdict): ParsedVerdict {
  const missing = [inOrder, inverse].find(({ verdict }) => verdict === null);
  if (missing) return noVerdict(missing.reason);
  const other = turnedPreference[inverse.verdict as keyof typeof turnedPreference];
  if (inOrder.verdict === other) return inOrder;
  const reason = `A tie, because the preference depends on the order of the answers. In order: ${inOrder.reason} Inverse: ${inverse.reason}`;
  return { verdict: 'tie', pass: null, score: null, reason: reason.slice(0, maxReasonCharacters) };
}

/** Sorts the keys, because objects with the same keys are the same judge. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined && inner !== null)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, canonical(inner)]),
  );
}

/** The same for judges that ask the same of the same model. A verdict with another hash is stale. */
export function judgeHashOf({ promptText, aiSystem, model, configuration, verdict }: JudgeInput): string {
  const parts = canonical({ promptText, aiSystem, model, configuration, verdict });
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
