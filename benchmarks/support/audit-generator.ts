import { createConversations } from '../../electron/storage/conversations.ts';
import { openDatabase } from '../../electron/storage/database.ts';
import { prepareQuery, valuesOf } from '../../electron/storage/queries.ts';
import { runWriteQueries } from '../../electron/storage/run-queries.ts';
import { type NewRun, type RunOutcome, runRow, runTextRow } from '../../electron/storage/run-rows.ts';
import type { Schema } from '../../electron/storage/schema.ts';
import { timeOrderedId } from '../../electron/storage/time-ordered-id.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import type { FinishReason } from '../../shared/contract/completions.ts';
import { type SeededRandom, createRandom, createWriter } from './text-writer.ts';

/** A plausible run with its outcome and feedback. */
export interface GeneratedRun {
  readonly run: NewRun;
  readonly outcome: RunOutcome;
  readonly feedback: { score: number; scoreText: string | null; scoreTags: string | null } | null;
}

const models: readonly (readonly [aiSystem: AiSystem, model: string, share: number])[] = [
  ['ServiceAi', 'hl-gpt-4o-mini', 0.3],
  ['OpenAi', 'gpt-4o', 0.2],
  ['OpenAi', 'gpt-4o-mini', 0.15],
  ['Anthropic', 'claude-3-haiku-20240307', 0.12],
  ['GoogleGemini', 'gemini-1.5-pro', 0.1],
  ['Groq', 'llama3-70b-8192', 0.08],
  ['OpenAiCompatible', 'workshop/qwen3-8b', 0.04],
  ['ServiceAi', 'hl-gpt-4.1-mini', 0.01],
];
const teams = ['support', 'sales', 'legal', 'research', 'finance', 'design'];
const releases = ['2025.1', '2025.2', '2025.3', '2026.1'];
const tags = ['accurate', 'helpful', 'wrong', 'unsafe', 'too long', 'off topic', 'tone'];

export const generatedCallers: readonly string[] = Array.from({ length: 12 }, (_, index) => uuidOf(0xca11, index));
const promptIds = Array.from({ length: 40 }, (_, index) => uuidOf(0x9209, index));
const workspaceIds = Array.from({ length: 8 }, (_, index) => uuidOf(0x3095, index));

function uuidOf(kind: number, index: number): string {
  return `${kind.toString(16).padStart(8, '0')}-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
}

const twoYears = 730 * 86_400_000;
/** Number of simultaneous conversations. */
const openConversations = 60;

interface OpenConversation {
  readonly id: string;
  readonly callerId: string;
  readonly workspaceId: string | null;
  readonly appHeaders: Record<string, string>;
  left: number;
}

function openConversation(random: SeededRandom, time: number): OpenConversation {
  return {
    id: timeOrderedId(time),
    callerId: generatedCallers[Math.floor(random.next() ** 2 * generatedCallers.length)]!,
    workspaceId: random.next() < 0.4 ? random.pick(workspaceIds) : null,
    appHeaders: random.next() < 0.6 ? { team: random.pick(teams), release: random.pick(releases) } : {},
    left: 1 + Math.floor(random.next() * 6),
  };
}

function pickModel(random: SeededRandom): (typeof models)[number] {
  let rest = random.next();
  for (const entry of models) if ((rest -= entry[2]) < 0) return entry;
  return models[0]!;
}

function feedbackOf(random: SeededRandom, words: () => string): GeneratedRun['feedback'] {
  if (random.next() > 0.08) return null;
  const chosen = tags.filter(() => random.next() < 0.25);
  return {
    score: Math.floor(random.next() * 21) - 10,
    scoreText: random.next() < 0.5 ? words() : null,
    scoreTags: chosen.length === 0 ? null : chosen.join(','),
  };
}

function outcomeOf(random: SeededRandom, content: string, promptTokens: number, createdAt: number): RunOutcome {
  const fate = random.next();
  const status = fate < 0.95 ? 'Completed' : fate < 0.97 ? 'Cancelled' : 'Failed';
  const completionTokens = Math.ceil(content.length / 4.5);
  const totalMs = 300 + completionTokens * (4 + 20 * random.next() ** 3);
  const finished: FinishReason = random.next() < 0.96 ? 'Stop' : 'Length';
  return {
    status,
    content: status === 'Failed' ? '' : content,
    reasoning: null,
    finishReason: status === 'Completed' ? finished : status === 'Cancelled' ? 'Cancelled' : 'Error',
    error:
      status === 'Failed'
        ? { code: random.pick(['provider_failed', 'provider_silent', 'rate_limited']), message: 'The provider failed.' }
        : null,
    usage:
      status === 'Completed'
        ? {
            prompt_tokens: promptTokens,
            completion_tokens: completionTokens,
            total_tokens: promptTokens + completionTokens,
          }
        : null,
    cost:
      status === 'Completed'
        ? { amount: (promptTokens * 2.5 + completionTokens * 10) / 1e6, pricesFrom: '2026-07-02' }
        : null,
    credits: 1,
    firstTokenMs: 80 + 400 * random.next() ** 2,
    totalMs,
    completedAt: createdAt + Math.round(totalMs),
    citations: [],
  };
}

/** Runs of `span` milliseconds up to `until`, oldest first; equal seeds give equal runs except for their IDs. */
export function* generateRuns(
  count: number,
  { seed = 1, until = Date.now(), span = twoYears } = {},
): Generator<GeneratedRun> {
  const random = createRandom(seed);
  const writer = createWriter(random);
  const open = Array.from({ length: openConversations }, () => openConversation(random, until - span));
  for (let index = 0; index < count; index += 1) {
    const createdAt = Math.floor(until - span + (span * (index + random.next())) / count);
    const position = Math.floor(random.next() * open.length);
    if (open[position]!.left === 0) open[position] = openConversation(random, createdAt);
    const conversation = open[position]!;
    conversation.left -= 1;
    const [aiSystem, model] = pickModel(random);
    const text = writer.prompt();
    const isStored = random.next() < 0.15;
    const promptId = isStored ? random.pick(promptIds) : null;
    yield {
      run: {
        runId: timeOrderedId(createdAt),
        messageId: timeOrderedId(createdAt),
        conversationId: conversation.id,
        workspaceId: conversation.workspaceId,
        callerId: conversation.callerId,
        apiKeyId: null,
        promptId,
        promptVersionId: promptId === null ? null : promptId.replace('00009209', '00009210'),
        aiSystem,
        model,
        servedBy: aiSystem === 'ServiceAi' ? 'on-device/qwen3-1.7b.gguf' : `${aiSystem}/${model}`,
        createdAt,
        ...text,
        configuration: { temperature: 0.2 },
        dataspaceIds: null,
        appHeaders: conversation.appHeaders,
        metadata: { conversationId: conversation.id },
        warnings: [],
      },
      outcome: outcomeOf(random, writer.answer(), Math.ceil(text.renderedPrompt.length / 4.5), createdAt),
      feedback: feedbackOf(random, writer.remark),
    };
  }
}

/** Runs per transaction. */
const batchRuns = 5000;

/** Fills an empty data folder with runs, through the statements of the recorder but many per transaction. */
export function fillDatabase(directory: string, generated: Iterable<GeneratedRun>): void {
  const database = openDatabase(directory);
  database.pragma('synchronous = OFF');
  const queries = runWriteQueries(database);
  const conversations = createConversations(database);
  const insertFeedback = prepareQuery(database, (tables, input: Schema['feedback']) =>
    tables.insertInto('feedback').values(valuesOf(input, ['run', 'score', 'score_text', 'score_tags', 'updated_at'])),
  );
  const runs = generated[Symbol.iterator]();
  let sequence = 0;
  const writeBatch = database.transaction(() => {
    for (let written = 0; written < batchRuns; written += 1) {
      const next = runs.next();
      if (next.done) return false;
      const { run, outcome, feedback } = next.value;
      sequence += 1;
      const position = { sequence, conversation: conversations.append(run, sequence) };
      queries.insertRun.run(runRow(run, outcome, position, null));
      queries.insertTexts.run(runTextRow(run, outcome, { sequence, lastMessage: null }));
      if (feedback === null) continue;
      insertFeedback.run({
        run: sequence,
        score: feedback.score,
        score_text: feedback.scoreText,
        score_tags: feedback.scoreTags,
        updated_at: outcome.completedAt,
      });
    }
    return true;
  });
  let hasMore = true;
  while (hasMore) {
    hasMore = writeBatch.immediate();
    conversations.endRun(true);
  }
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}
