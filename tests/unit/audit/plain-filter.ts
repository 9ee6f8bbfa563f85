import type { AuditFilter } from '../../../shared/contract/audit.ts';
import { flagsOf } from '../../../shared/contract/moderation.ts';
import type { FeedbackInput } from '../../../shared/contract/conversations.ts';
import type { NewRun, RunOutcome } from '../../../electron/storage/run-rows.ts';

/** A recorded run as the plain filter sees it. */
export interface PlainRun {
  readonly run: NewRun;
  readonly outcome: RunOutcome;
  readonly feedback: FeedbackInput | null;
}

type Test = (run: PlainRun) => boolean;
type Range = { min?: number | null | undefined; max?: number | null | undefined };

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? [];
const tagsOf = (list: string): string[] => list.split(',').map((tag) => tag.trim());

function isWithin(value: number | null | undefined, { min, max }: Range): boolean {
  return value != null && value >= (min ?? -Infinity) && value <= (max ?? Infinity);
}

/** What each part of a filter means, written as plainly as it can be. */
const meanings: {
  [Name in keyof AuditFilter]?: (expected: NonNullable<AuditFilter[Name]>, filter: AuditFilter) => Test;
} = {
  callerId:
    (id) =>
    ({ run }) =>
      run.callerId === id,
  startDate:
    (date) =>
    ({ run }) =>
      run.createdAt >= Date.parse(date),
  endDate:
    (date) =>
    ({ run }) =>
      run.createdAt <= Date.parse(date),
  appHeaders:
    (headers) =>
    ({ run }) =>
      Object.entries(headers).every(([name, value]) => (run.appHeaders[name.toLowerCase()] ?? null) === value),
  promptId:
    (id) =>
    ({ run }) =>
      run.promptId === id,
  promptVersionId:
    (id) =>
    ({ run }) =>
      run.promptVersionId === id,
  promptRunId:
    (id) =>
    ({ run }) =>
      run.promptId !== null && run.runId === id,
  workspaceId:
    (id) =>
    ({ run }) =>
      run.workspaceId === id,
  conversationId:
    (id) =>
    ({ run }) =>
      run.conversationId === id,
  conversationRunId:
    (id) =>
    ({ run }) =>
      run.runId === id,
  feedback:
    ({ score, scoreText, scoreTags }) =>
    ({ feedback }) =>
      (score == null || feedback?.score === score) &&
      (scoreText == null || feedback?.scoreText?.toLowerCase().includes(scoreText.toLowerCase()) === true) &&
      (scoreTags == null || tagsOf(scoreTags).every((tag) => tagsOf(feedback?.scoreTags ?? '').includes(tag))),
  hasFeedback:
    (expected) =>
    ({ feedback }) =>
      (feedback !== null) === expected,
  score:
    (range) =>
    ({ feedback }) =>
      isWithin(feedback?.score, range),
  models:
    (models) =>
    ({ run }) =>
      models.includes(run.model),
  aiSystems:
    (aiSystems) =>
    ({ run }) =>
      aiSystems.includes(run.aiSystem),
  statuses:
    (statuses) =>
    ({ outcome }) =>
      statuses.includes(outcome.status),
  origins:
    (apis) =>
    ({ run }) =>
      apis.includes(run.origin?.api ?? 'completions'),
  clients:
    (clients) =>
    ({ run }) =>
      clients.includes(run.origin?.client ?? ''),
  errorCodes:
    (codes) =>
    ({ outcome }) =>
      codes.includes(outcome.error?.code ?? ''),
  moderationFlags:
    (flags) =>
    ({ outcome: { moderation } }) =>
      moderation != null && flagsOf(moderation).some((flag) => flags.includes(flag)),
  tags:
    (expected) =>
    ({ feedback }) =>
      expected.every((tag) => tagsOf(feedback?.scoreTags ?? '').includes(tag)),
  totalMs:
    (range) =>
    ({ outcome }) =>
      isWithin(outcome.totalMs, range),
  cost:
    (range) =>
    ({ outcome }) =>
      isWithin(outcome.cost?.amount, range),
  totalTokens:
    (range) =>
    ({ outcome }) =>
      isWithin(outcome.usage?.total_tokens, range),
  text:
    (text, { textIn }) =>
    ({ run, outcome }) => {
      const prompt = textIn === 'answer' ? '' : `${run.systemMessage} ${run.renderedPrompt}`;
      const present = new Set(wordsOf(`${prompt} ${textIn === 'prompt' ? '' : outcome.content}`));
      return wordsOf(text).every((word) => present.has(word));
    },
  // Says where the text is, and nothing without one.
  textIn: () => () => true,
};

export function meets(run: PlainRun, filter: AuditFilter): boolean {
  return Object.entries(filter).every(([name, expected]) => {
    const meaning = meanings[name as keyof AuditFilter] as
      ((expected: unknown, filter: AuditFilter) => Test) | undefined;
    if (meaning === undefined) throw new Error(`No meaning for ${name}`);
    return meaning(expected, filter)(run);
  });
}

/** The conversations with a run that meets the filter, the one with the newest run first, each with which runs do. */
export function plainReport(runs: readonly PlainRun[], filter: AuditFilter): string[] {
  const conversations = Map.groupBy(runs, ({ run }) => run.conversationId);
  return [...conversations]
    .filter(([, members]) => members.some((run) => meets(run, filter)))
    .map(([id, members]) => ({
      id,
      newest: members.at(-1)!.run.createdAt,
      matched: members.map((run) => (meets(run, filter) ? '+' : '-')).join(''),
    }))
    .toSorted((one, other) => other.newest - one.newest || (one.id < other.id ? 1 : -1))
    .map(({ id, matched }) => `${id} ${matched}`);
}
