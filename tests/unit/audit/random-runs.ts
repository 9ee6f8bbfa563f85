import type { AuditFilter } from '../../../shared/contract/audit.ts';
import type { Category, GuardFinding, RunModeration } from '../../../shared/contract/moderation.ts';
import { fc } from '../../support/fast-check.ts';
import { sampleOutcome, sampleRun } from '../storage/sample-run.ts';
import type { PlainRun } from './plain-filter.ts';

/** Few values, so that filters meet some runs and miss others. */
const uuid = (digit: number): string => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;
const start = Date.UTC(2026, 0, 1);
const words = ['red', 'green', 'blue', 'amber', 'the'];

const callers = [uuid(1), uuid(2)];
const conversations = Array.from({ length: 12 }, (_, index) => uuid(index % 10).replace('0000-', `00${index + 10}-`));
const prompts = [uuid(3), uuid(4)];
const versions = [uuid(5), uuid(6)];
const workspaces = [uuid(7), uuid(8)];
const models = ['gpt-4o', 'gpt-4o-mini'] as const;
const aiSystems = ['OpenAi', 'Groq'] as const;
/** A run's id by its place among the random ones, so that filters can name runs that exist. */
const runIdAt = (position: number): string => `${String(position).padStart(8, '0')}-aaaa-4000-8000-000000000000`;
const runId = fc.integer({ min: 0, max: 8 }).map(runIdAt);
const origins = [undefined, { api: 'import', client: 'logs' }, { api: 'openai-chat', client: null }] as const;
const finding = (category: Category): GuardFinding => ({
  mode: 'note',
  model: 'classifier',
  categories: [category],
  categoryScores: null,
  milliseconds: 1,
  withheld: null,
  failure: null,
});
const findings: readonly (RunModeration | undefined)[] = [
  undefined,
  { prompt: finding('violence'), answer: null },
  { prompt: finding('violence'), answer: finding('sexual') },
];
const time = fc.integer({ min: 0, max: 40 });
const score = fc.integer({ min: -2, max: 2 });
const tags = fc.constantFrom('good', 'bad', 'good,bad', ' bad , good ');
const text = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }).map((list) => list.join(' '));
const headers = fc.constantFrom<Record<string, string>>({}, { team: 'a' }, { team: 'b' }, { team: 'a', colour: 'c' });

const randomRun = fc.record({
  conversation: fc.constantFrom(...conversations),
  time,
  promptId: fc.option(fc.constantFrom(...prompts), { freq: 1 }),
  promptVersionId: fc.option(fc.constantFrom(...versions)),
  model: fc.constantFrom(...models),
  aiSystem: fc.constantFrom(...aiSystems),
  moderation: fc.constantFrom(...findings),
  origin: fc.constantFrom(...origins),
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
export const randomRuns = fc.array(randomRun, { minLength: 1, maxLength: 60, size: 'max' });

const range = fc.record({ min: fc.integer({ min: 0, max: 4 }) }, { requiredKeys: [] });
const date = time.map((after) => new Date(start + after).toISOString());

const fields: { [Name in keyof AuditFilter]: fc.Arbitrary<NonNullable<AuditFilter[Name]>> } = {
  callerId: fc.constantFrom(...callers),
  startDate: date,
  endDate: date,
  appHeaders: fc.constantFrom<Record<string, string | null>>({ Team: 'a' }, { team: null }, { colour: 'c', team: 'a' }),
  promptId: fc.constantFrom(...prompts),
  promptVersionId: fc.constantFrom(...versions),
  promptRunId: runId,
  conversationRunId: runId,
  workspaceId: fc.constantFrom(...workspaces),
  conversationId: fc.constantFrom(...conversations),
  feedback: fc.record({ score, scoreText: fc.constantFrom('RE', 'e', 'amber'), scoreTags: tags }, { requiredKeys: [] }),
  hasFeedback: fc.boolean(),
  score: range.map(({ min }) => ({ min: (min ?? 0) - 2 })),
  models: fc.subarray([...models], { minLength: 1 }),
  aiSystems: fc.subarray([...aiSystems], { minLength: 1 }),
  tags: fc.subarray(['good', 'bad'], { minLength: 1 }),
  moderationFlags: fc.subarray(['prompt:violence', 'answer:sexual'], { minLength: 1 }),
  totalTokens: range.map(({ min = 0 }) => ({ min, max: min + 3 })),
  statuses: fc.subarray(['Completed' as const, 'Failed' as const, 'Cancelled' as const], { minLength: 1 }),
  origins: fc.subarray(['completions' as const, 'import' as const, 'openai-chat' as const], { minLength: 1 }),
  clients: fc.subarray(['logs', 'unknown'], { minLength: 1 }),
  totalMs: range.filter(({ min }) => min !== undefined),
  text,
  textIn: fc.constantFrom('prompt', 'answer'),
};

/** Of all filters one to three at once: more than that leave nothing over. */
export const randomFilter: fc.Arbitrary<AuditFilter> = fc
  .subarray(Object.keys(fields) as (keyof typeof fields)[], { minLength: 1, maxLength: 3 })
  .chain((names) => fc.record<Record<string, unknown>>(Object.fromEntries(names.map((name) => [name, fields[name]!]))))
  // A place without words says nothing.
  .map((filter): AuditFilter => ({ ...(filter['textIn'] !== undefined && { text: 'red' }), ...filter }));

/** A caller's conversations are its own and in one workspace, so the conversation decides on both. */
export function plainRunOf(random: RandomRun, position: number): PlainRun {
  const feedback = random.feedback;
  const isFailed = random.status === 'Failed';
  const hasFeedback = feedback !== null && Object.values(feedback).some((value) => value != null);
  return {
    run: sampleRun({
      runId: runIdAt(position),
      conversationId: random.conversation,
      callerId: callers[conversations.indexOf(random.conversation) % callers.length]!,
      createdAt: start + random.time,
      promptId: random.promptId,
      promptVersionId: random.promptVersionId,
      workspaceId: [...workspaces, null][conversations.indexOf(random.conversation) % 3]!,
      aiSystem: random.aiSystem,
      model: random.model,
      ...(random.origin && { origin: random.origin }),
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
      ...(random.moderation && { moderation: random.moderation }),
      error: isFailed ? { code: 'provider_failed', message: 'no' } : null,
      usage: isFailed
        ? null
        : { prompt_tokens: 1, completion_tokens: random.totalMs, total_tokens: random.totalMs + 1 },
    }),
    feedback: hasFeedback ? feedback : null,
  };
}
