import { hash } from 'node:crypto';
import { missingMessages } from '../../shared/continued-field.ts';
import { type Message, textMessage } from '../../shared/contract/messages.ts';
import type { RunDetail } from '../../shared/contract/runs.ts';
import { toolFunctions } from '../../shared/contract/tools.ts';
import { assistantMessage, sentChatMessages } from '../common/chat-messages.ts';
import { namedParameters } from '../passthrough/named-parameters.ts';
import type { TurnStore } from '../storage/agents/turn-store.ts';
import type { StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { RunStore } from '../storage/storage.ts';
import { readAnywhere, type TeamRecords } from '../team/team-records.ts';
import { type DoneItem, type DoneItemsOptions, eachDoneItem } from './done-items.ts';

export interface PreferenceOptions extends DoneItemsOptions {
  readonly runs: Pick<RunStore, 'read'>;
  readonly turns: Pick<TurnStore, 'newestFirst'>;
  readonly team: TeamRecords;
}

/** A run of this device, or for a queue of the team's runs of another host. */
const readRun = (runId: string, { plan }: StoredQueue, { runs, team }: PreferenceOptions): Promise<RunDetail | null> =>
  readAnywhere(runId, runs, plan.source === 'team' ? team : undefined);

/** Of the calls and results of an earlier turn. */
const maxStepBytes = 16 * 1_048_576;

/** What an agent's run says about the turns before it. */
interface SentHistory {
  readonly turns?: number;
  readonly index?: number;
}

/** The parameters of a run under the names of completions. */
function parametersOf({ origin: { api }, input: { configuration } }: RunDetail): Readonly<Record<string, unknown>> {
  const isNamed = configuration === null || api === 'completions' || api === 'import';
  return isNamed ? (configuration ?? {}) : namedParameters(api, configuration).named;
}

const functionsOf = (run: RunDetail) => toolFunctions(parametersOf(run));

/** The functions that a run offered, in the format of OpenAI's chat completions. */
function toolsOf(run: RunDetail): object {
  const tools = functionsOf(run).map(({ name, description, parameters, strict }) => ({
    type: 'function',
    function: { name, ...(description != null && { description }), parameters, ...(strict != null && { strict }) },
  }));
  if (tools.length === 0) return {};
  const { parallel_tool_calls: parallel } = parametersOf(run);
  return { tools, ...(typeof parallel === 'boolean' && { parallel_tool_calls: parallel }) };
}

/**
 * All that a run sent after its system message; null if that isn't recorded whole. A turn of an agent has only its own messages, and those
 * before it are only on the host that ran it.
 */
function sentMessages(run: RunDetail, { turns }: PreferenceOptions): readonly Message[] | null {
  const { messages } = run.input;
  const memory = (run.agentId === null ? null : run.metadata?.['memory']) as SentHistory | null | undefined;
  const count = memory?.turns ?? 0;
  const isTemplate = run.metadata?.['isTemplate'] === true;
  // A template without {{history}} sends none.
  if (count === 0 || (isTemplate && memory?.index === undefined)) return messages;
  const hasTools = functionsOf(run).length > 0;
  const earlier: Message[][] = [];
  for (const { question, answer, steps } of turns.newestFirst(run.conversationId, maxStepBytes, run.runId)) {
    const calls = hasTools ? (steps?.() ?? []) : [];
    earlier.unshift([textMessage('user', question), ...calls, textMessage('assistant', answer)]);
    if (earlier.length === count) return messages.toSpliced(memory?.index ?? 0, 0, ...earlier.flat());
  }
  return null;
}

/** What a run sent, as trainers read it; null if a part of it isn't recorded, or is no text. */
function inputOf(run: RunDetail, options: PreferenceOptions): object | null {
  if (run.isAnonymised || missingMessages(run) !== null) return null;
  const messages = sentMessages(run, options);
  const sent = messages && sentChatMessages(run.input.systemMessage, messages);
  return sent && { messages: sent, ...toolsOf(run) };
}

/** Null for a run without an answer. */
function answerOf({ output: { content, toolCalls = [] } }: RunDetail): object | null {
  return content === '' && toolCalls.length === 0 ? null : assistantMessage(content, toolCalls);
}

function preferenceLine(input: object, preferred: object, other: object): string {
  return `${JSON.stringify({ input, preferred_output: [preferred], non_preferred_output: [other] })}\n`;
}

interface Rated {
  readonly runId: string;
  readonly rating: number;
}

/** The rating of an answer: its first score, otherwise the first yes or no. */
function ratingOf({ items }: StoredQueue['rubric'], { final }: DoneItem): number | null {
  const item = items.find(({ kind }) => kind === 'score') ?? items.find(({ kind }) => kind === 'yesNo');
  const value = item && final.get(item.id);
  return value === undefined ? null : Number(value);
}

/** What reviewers wrote in place of an answer: the final text, otherwise each of theirs. Other texts are remarks. */
export function correctionsOf({ items }: StoredQueue['rubric'], { final, reviews }: DoneItem): string[] {
  const item = items.find(({ isCorrection }) => isCorrection);
  if (!item) return [];
  const decided = final.get(item.id);
  if (decided !== undefined) return [String(decided)];
  const given = reviews.flatMap(({ answers }) => answers.filter(({ rubricItemId }) => rubricItemId === item.id));
  return [...new Set(given.map(({ value }) => String(value)))];
}

/** The best and the worst of the answers to the same input; null if they are equal. */
function extremesOf(rated: readonly Rated[]): readonly [best: string, worst: string] | null {
  const [best, worst] = [
    rated.reduce((one, other) => (other.rating > one.rating ? other : one)),
    rated.reduce((one, other) => (other.rating < one.rating ? other : one)),
  ];
  return best.rating === worst.rating ? null : [best.runId, worst.runId];
}

/**
 * Preferred and other answers as JSONL in OpenAI's format for preferences, which other services read, too: corrections against the answer,
 * and answers to the same input by their ratings. A line has no further field: services may reject those that they don't know.
 */
export async function* exportPreferences(
  queue: StoredQueue,
  options: PreferenceOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const byInput = new Map<string, Rated[]>();
  for await (const slice of eachDoneItem(queue, options, signal)) {
    let lines = '';
    for (const done of slice) {
      const run = await readRun(done.item.runId, queue, options);
      const input = run && inputOf(run, options);
      const answer = run && answerOf(run);
      if (!input || !answer) continue;
      for (const correction of correctionsOf(queue.rubric, done))
        if (correction !== run.output.content) lines += preferenceLine(input, assistantMessage(correction, []), answer);
      const rating = ratingOf(queue.rubric, done);
      if (rating === null) continue;
      const key = hash('sha256', JSON.stringify(input));
      byInput.set(key, [...(byInput.get(key) ?? []), { runId: run.runId, rating }]);
    }
    yield lines;
  }
  for (const rated of byInput.values()) {
    const extremes = extremesOf(rated);
    if (extremes === null) continue;
    const [best, worst] = await Promise.all(extremes.map((runId) => readRun(runId, queue, options)));
    const [input, preferred, other] = [
      best && inputOf(best, options),
      best && answerOf(best),
      worst && answerOf(worst),
    ];
    if (input && preferred && other) yield preferenceLine(input, preferred, other);
    signal.throwIfAborted();
  }
}
