import fc from 'fast-check';
import type { AuditFilter } from '../../../shared/contract/audit.ts';
import { sampleOutcome, sampleRun } from '../storage/sample-run.ts';
import type { PlainRun } from './plain-filter.ts';

/** Few values, so that filters meet some runs and miss others. */
const uuid = (digit: number): string => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;
const start = Date.UTC(2026, 0, 1);
const words = ['red', 'green', 'blue', 'amber', 'the'];

const callers = [uuid(1), uuid(2)];
const conversations = Array.from({ length: 12 }, (_, index) => uuid(index % 10).replace('0000-', `00${index + 10}-`));
const prompts = [uuid(3), uuid(4)];
const models = ['gpt-4o', 'gpt-4o-mini'] as const;
const time = fc.integer({ min: 0, max: 40 });
const score = fc.integer({ min: -2, max: 2 });
const tags = fc.constantFrom('good', 'bad', 'good,bad', ' bad , good ');
const text = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }).map((list) => list.join(' '));
const headers = fc.constantFrom<Record<string, string>>({}, { team: 'a' }, { team: 'b' }, { team: 'a', colour: 'c' });

const randomRun = fc.record({
  conversation: fc.constantFrom(...conversations),
  time,
  promptId: fc.option(fc.constantFrom(...prompts)),
  model: fc.constantFrom(...models),
  headers,
  prompt: text,
  answer: text,
  status: fc.constantFrom('Completed' as const, 'Failed' as const),
  totalMs: fc.integer({ min: 0, max: 5 }),
  feedback: fc.option(
    fc.record({ score: fc.option(score), scoreText: fc.option(text), scoreTags: tags }, { requiredKeys: [] }),
  ),
});
export type RandomRun = typeof randomRun extends fc.Arbitrary<infer Value> ? Value : never;

/** Runs in the order in which they are recorded, mostly but not always that of their time. */
export const randomRuns = fc.array(randomRun, { minLength: 1, maxLength: 60 });

const range = fc.record({ min: fc.integer({ min: 0, max: 4 }) }, { requiredKeys: [] });
const date = time.map((after) => new Date(start + after).toISOString());

/** Of all filters a few at once. */
export const randomFilter: fc.Arbitrary<AuditFilter> = fc
  .record(
    {
      callerId: fc.constantFrom(...callers),
      startDate: date,
      endDate: date,
      appHeaders: fc.constantFrom<Record<string, string | null>>(
        { Team: 'a' },
        { team: null },
        { colour: 'c', team: 'a' },
      ),
      promptId: fc.constantFrom(...prompts),
      conversationId: fc.constantFrom(...conversations),
      feedback: fc.record(
        { score, scoreText: fc.constantFrom('RE', 'e', 'amber'), scoreTags: tags },
        { requiredKeys: [] },
      ),
      hasFeedback: fc.boolean(),
      score: range.map(({ min }) => ({ min: (min ?? 0) - 2 })),
      models: fc.subarray([...models], { minLength: 1 }),
      statuses: fc.subarray(['Completed' as const, 'Failed' as const, 'Cancelled' as const], { minLength: 1 }),
      totalMs: range.filter(({ min }) => min !== undefined),
      text,
    },
    { requiredKeys: [] },
  )
  .map((filter): AuditFilter => filter);

/** A caller's conversations are its own, so the conversation decides on the caller. */
export function plainRunOf(random: RandomRun): PlainRun {
  const feedback = random.feedback;
  const isFailed = random.status === 'Failed';
  const hasFeedback = feedback !== null && Object.values(feedback).some((value) => value != null);
  return {
    run: sampleRun({
      conversationId: random.conversation,
      callerId: callers[conversations.indexOf(random.conversation) % callers.length]!,
      createdAt: start + random.time,
      promptId: random.promptId,
      model: random.model,
      appHeaders: random.headers,
      systemMessage: null,
      promptText: random.prompt,
      renderedPrompt: random.prompt,
      metadata: null,
    }),
    outcome: sampleOutcome({
      status: random.status,
      content: isFailed ? '' : random.answer,
      totalMs: random.totalMs,
      error: isFailed ? { code: 'provider_failed', message: 'no' } : null,
      usage: isFailed
        ? null
        : { prompt_tokens: 1, completion_tokens: random.totalMs, total_tokens: random.totalMs + 1 },
    }),
    feedback: hasFeedback ? feedback : null,
  };
}
