import { AppError } from '../../shared/app-error.ts';
import {
  giveFeedback,
  listConversations,
  listFeedback,
  readConversation,
  type ConversationRun,
} from '../../shared/contract/conversations.ts';
import { textMessage, textOfMessages } from '../../shared/contract/messages.ts';
import { reviewCallerOf } from './reviews.ts';
import type { PromptStore } from '../storage/prompts/prompt-store.ts';
import { LazyList } from '../storage/list-page.ts';
import type { AuditStore, StoredConversation } from '../audit/query/audit-store.ts';
import type { RunOfConversation } from '../team/team-engine.ts';
import type { Team } from '../team/create-team.ts';
import { implement, type Caller, type Handler } from './api.ts';
import type { Reviewers } from '../reviews/create-reviewers.ts';
import { longJsonResponse } from './json-response.ts';

const defaultPageSize = 20;

/** A key with the scope `audit` sees the conversations of all callers, others only their own. */
const seesAll = (caller: Caller): boolean => caller.scopes.includes('audit');

type VersionReader = Pick<PromptStore, 'findVersion'>;

/** The values of a run without those that are the default of the stored prompt; null if another host has the prompt. */
function sentReplacements({ input, promptVersionId }: ConversationRun, prompts: VersionReader) {
  const version = promptVersionId === null ? null : prompts.findVersion(promptVersionId);
  if (version === null || input.replacements === null) return null;
  const defaults = new Map(version.variables.map(({ name, defaultValue }) => [name, defaultValue]));
  const sent = Object.entries(input.replacements).filter(([name, value]) => value !== defaults.get(name));
  return Object.fromEntries(sent);
}

/**
 * The input that a key without the scope `audit` sees: only what it sent. Stored prompts and agents can have instructions that users of a
 * key must not read (docs/decisions/prompts-and-agents.md).
 */
function withoutStoredText(run: ConversationRun, prompts: VersionReader): ConversationRun['input'] {
  const { input, promptRunId, agentId, metadata } = run;
  if (promptRunId !== null) {
    const replacements = sentReplacements(run, prompts);
    const own = { ...input, promptText: '', systemMessage: null, renderedPrompt: '', messages: [] };
    return { ...own, replacements, configuration: null };
  }
  if (agentId === null) return input;
  const own = { ...input, systemMessage: null, configuration: null, dataspaceIds: null };
  if (metadata?.['isTemplate'] !== true) return own;
  // The agent's template is in the other messages, or around the caller's.
  const steps = input.messages.filter(({ content }) =>
    content.some(({ type }) => type === 'toolCall' || type === 'toolResult'),
  );
  const messages = [textMessage('user', input.promptText), ...steps];
  return { ...own, renderedPrompt: textOfMessages(messages), messages };
}

/**
 * The part of a run that a key without the scope `audit` may see. Otherwise the guard's record, or the reasoning, which completions don't
 * return, would reveal a blocked answer.
 */
function forRunKey(run: ConversationRun, prompts: VersionReader): ConversationRun {
  const { moderation, cost: _, ...rest } = run;
  return {
    ...rest,
    input: withoutStoredText(run, prompts),
    output: { ...run.output, reasoning: null },
    ...(moderation && {
      moderation: { ...moderation, answer: moderation.answer && { ...moderation.answer, withheld: null } },
    }),
  };
}

type TeamRecords = Pick<Team, 'audit' | 'isOn' | 'servesApi' | 'briefly'>;

/** Whether conversations that other hosts recorded are read, too. Only a host with `--team` shows them to programs. */
const readsTeam = (team: TeamRecords, caller: Caller): boolean =>
  team.isOn() && (team.servesApi || caller.key === null);

interface ConversationSources {
  readonly audit: AuditStore;
  readonly prompts: VersionReader;
  readonly team: TeamRecords;
  readonly reviewers: Reviewers;
}

type ReadOptions = Parameters<TeamRecords['audit']['readConversation']>[1];

/** Both are oldest first. */
function* merged(runs: Iterable<ConversationRun>, others: readonly ConversationRun[]) {
  let next = 0;
  for (const run of runs) {
    while (next < others.length && others[next]!.createdAt < run.createdAt) yield others[next++]!;
    yield run;
  }
  yield* others.slice(next);
}

/** A conversation of this device with the runs that other hosts recorded, or the note that they may be missing. */
async function withOthers(
  local: StoredConversation,
  { audit, team }: Pick<ConversationSources, 'audit' | 'team'>,
  options: ReadOptions,
): Promise<StoredConversation> {
  const { id } = local;
  const found = await team.briefly((signal) => team.audit.readConversation(id, { ...options, signal }));
  if (found === undefined) return { ...local, isIncomplete: true };
  if (found === null) return local;
  const others = found.runs
    .filter(({ conversationRunId: runId }) => !audit.hasRun({ conversationId: id, runId }))
    .toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
  const updatedAt = found.updatedAt > local.updatedAt ? found.updatedAt : local.updatedAt;
  return { ...local, updatedAt, runs: new LazyList(() => merged(local.runs, others)) };
}

/** The conversation with the runs that the caller may see; null for an unknown ID. It may belong to another caller. */
async function readAnywhere(
  sources: Pick<ConversationSources, 'audit' | 'team'>,
  id: string,
  caller: Caller,
): Promise<StoredConversation | null> {
  const { audit, team } = sources;
  const options = seesAll(caller) ? { hasFeedback: true } : { hasFeedback: false, callerId: caller.callerId };
  const local = audit.readConversation(id, options);
  if (local === null) return readsTeam(team, caller) ? team.audit.readConversation(id, options) : null;
  const isShown = seesAll(caller) || local.callerId === caller.callerId;
  return team.servesApi && isShown ? withOthers(local, sources, options) : local;
}

/** The feedback of this device's runs is here and is copied. Runs of other hosts are only in the team database. */
function feedbackHandlers(audit: AuditStore, team: TeamRecords, reviewers: Reviewers): Handler[] {
  const isElsewhere = (caller: Caller, run: RunOfConversation) => readsTeam(team, caller) && !audit.hasRun(run);
  return [
    implement(giveFeedback, (input) => {
      const { parameters, body, caller } = input;
      const name = reviewers.find(reviewCallerOf(input))?.name ?? null;
      const reviewer = { reviewerId: caller.callerId, reviewer: name };
      if (isElsewhere(caller, parameters)) return team.audit.giveFeedback(parameters, body, reviewer);
      return audit.giveFeedback(parameters, body, reviewer);
    }),
    implement(listFeedback, ({ parameters, caller }) =>
      isElsewhere(caller, parameters) ? team.audit.listFeedback(parameters) : audit.listFeedback(parameters),
    ),
  ];
}

export function conversationHandlers({ audit, prompts, team, reviewers }: ConversationSources): Handler[] {
  return [
    implement(listConversations, ({ query, caller, signal }) =>
      (team.servesApi ? team.audit : audit).list(
        {
          callerId: seesAll(caller) ? null : caller.callerId,
          pageSize: query.pageSize ?? defaultPageSize,
          continuationToken: query.continuationToken ?? null,
        },
        { signal },
      ),
    ),
    implement(readConversation, async ({ parameters, caller }) => {
      const conversation = await readAnywhere({ audit, team }, parameters.id, caller);
      if (conversation === null) throw new AppError('not_found', 'No conversation has this ID.');
      if (!seesAll(caller) && conversation.callerId !== caller.callerId) {
        throw new AppError(
          'forbidden',
          'This conversation belongs to another caller. Use a key with the scope `audit`.',
        );
      }
      if (seesAll(caller)) return longJsonResponse(conversation);
      const runs = function* () {
        for (const run of conversation.runs) yield forRunKey(run, prompts);
      };
      return longJsonResponse({ ...conversation, runs: new LazyList(runs) });
    }),
    ...feedbackHandlers(audit, team, reviewers),
  ];
}
