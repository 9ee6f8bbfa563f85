import { z } from 'zod';
import { AppError, invalidField } from '../../shared/app-error.ts';
import { uuid } from '../../shared/contract/common.ts';
import type { CompletionBody, CompletionRequest, Configuration } from '../../shared/contract/completions.ts';
import type { Message } from '../../shared/contract/messages.ts';
import { forcesToolCall, type ToolResult } from '../../shared/contract/tools.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { ContinuableRun } from '../storage/continuable-run.ts';
import type { RunStore } from '../storage/storage.ts';
import { publicMessages, publicToolCall } from '../storage/stored-messages.ts';
import type { RunContinuation, RunOrigin } from './completions.ts';

/** Max characters of the messages of a continued run, as in a request. */
const maxCharacters = 4 * 1_048_576;

/** Tool messages of a conversation. Every continuation stores all messages again. */
const maxSteps = 100;

const runIds = z.array(uuid).max(maxSteps);

/** A body as a request, and what it continues. */
interface ContinuedRequest {
  readonly request: CompletionRequest;
  readonly continuation?: RunContinuation;
}

/**
 * The caller's run that `continueRunId` names. `agentId` is that of the agent whose turn it must be; null for a completion. Throws 404 for
 * a run of another caller, and 400 for one that can't be continued.
 */
export function readContinuable(
  runId: string,
  {
    callerId,
    agentId,
    isWindow,
  }: { readonly callerId: string; readonly agentId: string | null; readonly isWindow: boolean },
  runs: Pick<RunStore, 'readToContinue'>,
): ContinuableRun {
  const run = runs.readToContinue(runId);
  // The window shows the runs of all callers, so it may say whose run it is.
  if (run !== null && run.callerId !== callerId && isWindow)
    throw invalidField(
      'continueRunId',
      'is the run of a program',
      'A program started this run with its API key, and only that key can send results. Open the prompt and run it here to try others.',
    );
  if (run === null && isWindow)
    throw new AppError('not_found', "This run has been deleted, so it can't be continued. Run the prompt again.");
  if (run === null || run.callerId !== callerId) throw new AppError('not_found', 'You have no run with this ID.');
  const reject = (issue: string, message: string) => invalidField('continueRunId', issue, message);
  if (agentId === null && run.agentId !== null)
    throw reject('is a turn of an agent', 'Send the results to the agent: POST /agents/{id}/run.');
  if (agentId !== run.agentId) throw reject('is not a turn of this agent', 'This run is not a turn of this agent.');
  if (run.status !== 'Completed') throw reject('is not a completed run', 'Only a completed run can be continued.');
  if (run.metadata?.['anonymised'] === true && run.promptText === '')
    throw reject('has no texts', 'The retention has removed the texts of this run. Start a new one.');
  if (run.toolCalls.length === 0)
    throw reject(
      'has no tool calls',
      'The model called no tools in this run. Send a new message or completion instead.',
    );
  if (run.finishReason !== 'ToolCalls')
    throw reject('was cut off before its tool calls were complete', 'The tool calls of this run are not complete.');
  return run;
}

/** Content of that run's messages can't be sent again. */
function requireNoPrompt({ promptText, replacements, dataspaceIds, metadata }: CompletionBody, run: ContinuableRun) {
  const issue = "can't be changed when a run is continued";
  if (promptText !== undefined && promptText !== run.promptText) throw invalidField('promptText', issue);
  if (replacements != null) throw invalidField('replacements', issue);
  if (dataspaceIds != null) throw invalidField('dataspaceIds', issue);
  const conversationId = metadata?.conversationId?.toLowerCase();
  if (conversationId != null && conversationId !== run.conversationId)
    throw invalidField('metadata.conversationId', 'is not the conversation of the continued run');
}

/** The results in the order of the calls. */
function resultsOf(run: ContinuableRun, results: readonly ToolResult[]): ToolResult[] {
  const byCall = new Map<string, ToolResult>();
  const calls = new Set(run.toolCalls.map(({ id }) => id));
  for (const [index, result] of results.entries()) {
    const field = `toolResults[${index}].toolCallId`;
    if (!calls.has(result.toolCallId)) throw invalidField(field, 'is not a call of this run');
    if (byCall.has(result.toolCallId)) throw invalidField(field, 'already has a result');
    byCall.set(result.toolCallId, result);
  }
  return run.toolCalls.map(({ id, name }) => {
    const result = byCall.get(id);
    if (result) return result;
    throw invalidField('toolResults', `has no result for the call ${id.slice(0, 100)} of ${name.slice(0, 64)}`);
  });
}

function sizeOf({ content }: Message): number {
  return content.reduce((sum, part) => {
    if (part.type === 'text') return sum + part.text.length;
    if (part.type === 'toolResult') return sum + part.content.length;
    return part.type === 'toolCall' ? sum + JSON.stringify(part).length : sum;
  }, 0);
}

function continuedMessages(
  run: ContinuableRun,
  results: readonly ToolResult[],
  { isSameModel }: { readonly isSameModel: boolean },
): Message[] {
  const text = run.content === '' ? [] : [{ type: 'text' as const, text: run.content }];
  // What is stored for a provider, such as signed reasoning, only goes back to the model that made it.
  const calls = (isSameModel ? run.toolCalls : run.toolCalls.map(publicToolCall)).map((call) => ({
    type: 'toolCall' as const,
    ...call,
  }));
  const messages: Message[] = [
    ...(isSameModel ? run.messages : publicMessages(run.messages)),
    { role: 'assistant', content: [...text, ...calls] },
    {
      role: 'tool',
      content: results.map(({ toolCallId, content, isError = false }) => ({
        type: 'toolResult',
        toolCallId,
        content,
        isError,
      })),
    },
  ];
  const tooLong = (issue: string) =>
    invalidField('continueRunId', issue, `The continued run ${issue}. Start a new one.`);
  if (messages.filter(({ role }) => role === 'tool').length > maxSteps)
    throw tooLong(`has ${maxSteps} steps of tool calls`);
  if (messages.reduce((sum, message) => sum + sizeOf(message), 0) > maxCharacters)
    throw tooLong('has messages of more than 4 MB with these results');
  return messages;
}

/** Whether a `tool_choice` forces a call in a provider's own form, as Anthropic's `any` does. */
function forcesInOwnForm({ tool_choice: choice }: Configuration): boolean {
  return typeof choice === 'object' && choice !== null && choice.type !== 'auto' && choice.type !== 'none';
}

/** The run's configuration without a `tool_choice` that forced its calls: the model would never answer. */
export function inheritedConfiguration({ configuration }: ContinuableRun): Configuration | null {
  if (configuration === null) return null;
  if (!forcesToolCall(configuration) && !forcesInOwnForm(configuration)) return configuration;
  const { tool_choice: _, ...rest } = configuration;
  return rest;
}

/** The runs that led to the next one, oldest first, the continued one last. Metadata of a caller that doesn't fit is left out. */
export function continuedRunIds({ metadata, messages }: ContinuableRun, runId: string): string[] {
  const earlier = runIds.safeParse(metadata?.['continuedRunIds']).data ?? [];
  const steps = messages.filter(({ role }) => role === 'tool').length;
  return [...(earlier.length === steps ? earlier : []), runId];
}

/** A body without `continueRunId`. Its schema requires the fields of a completion. */
function newRequest(body: CompletionBody): CompletionRequest {
  if (body.toolResults !== undefined) throw invalidField('toolResults', 'needs continueRunId');
  return body as CompletionRequest;
}

/** What a run with these results continues from. Throws 400 for results that don't fit the calls of the run. */
export function continuationOf(
  run: ContinuableRun,
  given: readonly ToolResult[],
  options: { readonly isSameModel: boolean },
): RunContinuation {
  const { promptId, promptVersionId, conversationId, citations } = run;
  return {
    conversationId,
    messages: continuedMessages(run, resultsOf(run, given), options),
    // In the order of the request, which errors name.
    results: given.map(({ content }) => content),
    storedPrompt: promptId === null || promptVersionId === null ? null : { promptId, promptVersionId },
    citations,
  };
}

function continueRun(
  body: CompletionBody,
  runId: string,
  run: ContinuableRun,
  providers: Pick<Providers, 'resolve'>,
): ContinuedRequest {
  requireNoPrompt(body, run);
  if (body.toolResults === undefined) throw invalidField('toolResults', 'is required');
  const aiSystem = body.aiSystem ?? run.aiSystem;
  const model = body.model ?? run.model;
  // A built-in model may go to another provider than before.
  const isSameModel = providers.resolve(aiSystem, model).servedBy === run.servedBy;
  return {
    request: {
      promptText: run.promptText,
      systemMessage: body.systemMessage === undefined ? run.systemMessage : body.systemMessage,
      aiSystem,
      model,
      configuration: body.configuration === undefined ? inheritedConfiguration(run) : body.configuration,
      replacements: run.replacements,
      metadata: { ...body.metadata, continuedRunIds: continuedRunIds(run, runId) },
    },
    continuation: continuationOf(run, body.toolResults, { isSameModel }),
  };
}

/** Throws 404 for a run of another caller (400 in the window), and 400 for results that don't fit the calls of the run. */
export function toRequest(
  body: CompletionBody,
  { callerId, key }: Pick<RunOrigin, 'callerId' | 'key'>,
  runs: Pick<RunStore, 'readToContinue'>,
  providers: Pick<Providers, 'resolve'>,
): ContinuedRequest {
  if (body.continueRunId === undefined) return { request: newRequest(body) };
  const runId = body.continueRunId.toLowerCase();
  return continueRun(
    body,
    runId,
    readContinuable(runId, { callerId, agentId: null, isWindow: key === null }, runs),
    providers,
  );
}
