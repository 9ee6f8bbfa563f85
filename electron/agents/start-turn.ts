import { AppError, invalidField } from '../../shared/app-error.ts';
import type { Agent, AgentRunRequest } from '../../shared/contract/agents.ts';
import { type Message, textOfMessage, textOfToolCalls } from '../../shared/contract/messages.ts';
import { toolFunctions } from '../../shared/contract/tools.ts';
import { assumedContextTokens } from '../common/estimate-tokens.ts';
import type { AcceptedRun, Completions, RunOrigin } from '../completions/completions.ts';
import { continuationOf, continuedRunIds, inheritedConfiguration } from '../completions/continue-run.ts';
import { isConversationTemplate, renderTurn } from '../completions/render-prompt.ts';
import type { Grounding } from '../knowledge/grounding/create-grounding.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { TurnStore } from '../storage/agents/turn-store.ts';
import type { ContinuableRun } from '../storage/continuable-run.ts';
import { fitHistory } from './history.ts';

export interface TurnOptions {
  readonly turns: TurnStore;
  readonly providers: Pick<Providers, 'resolve' | 'applicableConfiguration'>;
  readonly grounding: Pick<Grounding, 'requireDataspaces'>;
  readonly completions: Pick<Completions, 'start'>;
}

/** Where a turn goes, and who started it. */
export interface TurnTarget {
  readonly conversationId: string;
  readonly origin: RunOrigin;
  readonly signal: AbortSignal;
}

/** Without this check the caller would read that `dataspaceIds`, a field that it didn't send, is wrong. */
function requireOwnDataspaces({ name, dataspaceIds }: Agent, grounding: TurnOptions['grounding']): void {
  try {
    grounding.requireDataspaces(dataspaceIds ?? []);
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    const message = `The agent "${name}" uses a dataspace that was deleted. Choose its dataspaces again.`;
    throw new AppError('conflict', message, { cause });
  }
}

/** What a turn is run with. */
interface TurnSettings extends Pick<Agent, 'aiSystem' | 'model' | 'configuration'> {
  readonly systemMessage: string | null;
  readonly isGrounded: boolean;
}

/** The model of a turn if it gets tools: without them, many models can't read earlier calls. */
function toolModelOf({ aiSystem, model, configuration }: TurnSettings, providers: TurnOptions['providers']) {
  const target = providers.resolve(aiSystem, model);
  const { tools } = providers.applicableConfiguration(target, configuration ?? {}).configuration;
  return toolFunctions({ tools }).length === 0 ? undefined : target.servedBy;
}

/** More than a context of so many tokens can hold, as JSON. */
const bytesPerToken = 12;

/** The turns that fit the context. Their count is stored with the run, so that the window can show what was dropped. */
function historyFor(
  settings: TurnSettings,
  message: string,
  conversationId: string,
  { turns, providers }: Pick<TurnOptions, 'turns' | 'providers'>,
) {
  const { contextTokens } = providers.resolve(settings.aiSystem, settings.model).metadata;
  const newestFirst = turns.newestFirst(conversationId, (contextTokens ?? assumedContextTokens) * bytesPerToken);
  const { messages, turns: turnCount } = fitHistory(newestFirst, {
    contextTokens,
    systemMessage: settings.systemMessage,
    message,
    isGrounded: settings.isGrounded,
    toolModel: toolModelOf(settings, providers),
  });
  return { messages, memory: { turns: turnCount, forgottenTurns: turns.count(conversationId) - turnCount } };
}

interface HistoryUse {
  readonly turns: number;
  readonly forgottenTurns: number;
  /** How many messages of a template come before the history; absent without one. */
  readonly index?: number;
}

/** The history is not stored with the run. Its index is, so that the run can be continued with the same messages. */
function historyIndex(message: string, history: readonly Message[], template: string | undefined) {
  if (template === undefined || history.length === 0) return {};
  const index = renderTurn({ message, history, template }).messages.indexOf(history[0]!);
  return index < 0 ? {} : { index };
}

function metadataOf(
  agentId: string,
  memory: HistoryUse,
  isTemplate: boolean,
  conversationId: string,
  turns: TurnStore,
) {
  const branchOf = turns.branches.find(conversationId)?.origin;
  return { agentId, memory, ...(isTemplate && { isTemplate }), ...(branchOf && { branchOf }) };
}

/** Sends a message to an agent. */
export async function startTurn(
  agent: Agent,
  message: string,
  { conversationId, origin, signal }: TurnTarget,
  options: TurnOptions,
): Promise<AcceptedRun> {
  requireOwnDataspaces(agent, options.grounding);
  const template = isConversationTemplate(agent.prompt) ? agent.prompt : undefined;
  const settings = { ...agent, systemMessage: agent.prompt, isGrounded: agent.dataspaceIds !== null };
  const { messages: history, memory } = historyFor(settings, message, conversationId, options);
  const use = { ...memory, ...historyIndex(message, history, template) };
  return options.completions.start(
    {
      promptText: message,
      systemMessage: agent.prompt === '' || template !== undefined ? null : agent.prompt,
      aiSystem: agent.aiSystem,
      model: agent.model,
      configuration: agent.configuration,
      dataspaceIds: agent.dataspaceIds,
      metadata: metadataOf(agent.id, use, template !== undefined, conversationId, options.turns),
    },
    origin,
    { signal, turn: { conversationId, history, template } },
  );
}

/** Later results would come after the answers to later messages. */
function requireNewest(runId: string, conversationId: string, turns: TurnStore): void {
  if (turns.newestRun(conversationId) === runId.toLowerCase()) return;
  throw invalidField(
    'continueRunId',
    'is not the newest completed run of the conversation',
    'The conversation has newer runs. Only its newest run can be continued.',
  );
}

/** Where the history comes among the messages of a template; null if it sent none. */
function storedIndex({ metadata }: ContinuableRun): number | null {
  const index = (metadata?.['memory'] as HistoryUse | undefined)?.index;
  return typeof index === 'number' ? index : null;
}

/**
 * Sends the results of the calls in the newest run of a conversation. The turn ends with the model, the system message and the parameters
 * with which it began, because its messages were made for these.
 */
export async function continueTurn(
  agent: Agent,
  run: ContinuableRun,
  { continueRunId, toolResults }: Required<Pick<AgentRunRequest, 'continueRunId' | 'toolResults'>>,
  { conversationId, origin, signal }: TurnTarget,
  options: TurnOptions,
): Promise<AcceptedRun> {
  requireNewest(continueRunId, conversationId, options.turns);
  const configuration = inheritedConfiguration(run);
  const { promptText, systemMessage, aiSystem, model } = run;
  const isSameModel = options.providers.resolve(aiSystem, model).servedBy === run.servedBy;
  const continuation = continuationOf(run, toolResults, { isSameModel });
  const settings = { aiSystem, model, configuration, systemMessage, isGrounded: false };
  const texts = continuation.messages.flatMap((one) => [textOfMessage(one), textOfToolCalls(one)]);
  const { messages, memory } = historyFor(settings, texts.join('\n'), conversationId, options);
  const isTemplate = run.metadata?.['isTemplate'] === true;
  const index = isTemplate ? storedIndex(run) : 0;
  const use: HistoryUse =
    index === null
      ? { turns: 0, forgottenTurns: memory.turns + memory.forgottenTurns }
      : { ...memory, ...(isTemplate && { index }) };
  return options.completions.start(
    {
      promptText,
      systemMessage,
      aiSystem,
      model,
      configuration,
      metadata: {
        ...metadataOf(agent.id, use, isTemplate, conversationId, options.turns),
        continuedRunIds: continuedRunIds(run, continueRunId.toLowerCase()),
      },
    },
    origin,
    {
      signal,
      continuation: {
        ...continuation,
        isTemplate,
        conversationId,
        ...(index !== null && { history: { messages, index } }),
      },
    },
  );
}
