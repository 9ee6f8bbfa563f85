import { AppError } from '../../../shared/app-error.ts';
import type { ReplayTarget } from '../../../shared/contract/audit-replay.ts';
import {
  completionRequest,
  type CompletionRequest,
  type Warning,
  withoutReserved,
} from '../../../shared/contract/completions.ts';
import { textOfMessage } from '../../../shared/contract/messages.ts';
import type { RunDetail } from '../../../shared/contract/runs.ts';
import { missingMessages } from '../../../shared/continued-field.ts';
import { joinMessages } from '../../../shared/prompt-messages.ts';
import type { RunContinuation } from '../../completions/completions.ts';
import { isFunctionTool, namedParameters } from '../../passthrough/named-parameters.ts';
import { literalTemplate } from '../../prompts/transfer/templates/template-syntax.ts';
import { providerName } from '../../../shared/provider-names.ts';
import type { Providers } from '../../providers/create-providers.ts';
import type { ContinuableRun } from '../../storage/continuable-run.ts';
import { publicMessages } from '../../storage/stored-messages.ts';
import { timeOrderedId } from '../../storage/time-ordered-id.ts';

/** How a run is run again. */
export interface ReplayedRequest {
  readonly request: CompletionRequest;
  /** What another provider doesn't get. */
  readonly warnings: readonly Warning[];
  /** Set if the messages are sent as they were. */
  readonly continuation?: RunContinuation;
}

interface RecordedConfiguration {
  readonly configuration: Record<string, unknown> | null;
  readonly warnings: readonly Warning[];
}

/** The name of a tool that isn't a function. Without one, that is its type, or Google's field. */
function nameOfTool(tool: unknown): string {
  const { name, type } = tool as { readonly name?: unknown; readonly type?: unknown };
  if (typeof name === 'string' && name !== '') return name;
  return typeof type === 'string' ? type : (Object.keys(tool as object)[0] ?? 'tool');
}

function dropped(parameter: string, message: string): Warning {
  return { code: 'parameter-dropped', parameter, message };
}

/** The parameters of a call in the format of another API, as completions name them. Another provider gets only those that all have. */
function recordedConfiguration(
  { origin: { api }, input, aiSystem }: RunDetail,
  target: ReplayTarget,
): RecordedConfiguration {
  if (input.configuration === null) return { configuration: null, warnings: [] };
  const parameters = withoutReserved(input.configuration);
  if (api === 'completions' || api === 'import') return { configuration: parameters, warnings: [] };
  const { named, other } = namedParameters(api, parameters);
  if ((target.aiSystem ?? aiSystem) === aiSystem) {
    // Runs of this service are stored at no provider.
    const isStored = input.configuration['store'] === true;
    const warnings = isStored ? [dropped('store', "store wasn't sent: Touchstone sets it to false.")] : [];
    return { configuration: { ...other, ...named }, warnings };
  }
  const provider = providerName(aiSystem);
  const warnings = Object.keys(other).map((name) =>
    dropped(name, `${name} wasn't sent: only ${provider}'s API has it.`),
  );
  if (!Array.isArray(named['tools'])) return { configuration: named, warnings };
  const { tools, tool_choice: choice, ...rest } = named;
  const [functions, own] = [true, false].map((isFunction) =>
    (tools as unknown[]).filter((tool) => isFunctionTool(tool) === isFunction),
  ) as [unknown[], unknown[]];
  for (const name of new Set(own.map(nameOfTool)))
    warnings.push(dropped('tools', `The tool ${name} wasn't sent: only ${provider}'s API has it.`));
  if (functions.length === 0) return { configuration: rest, warnings };
  return {
    configuration: { ...rest, tools: functions, ...(choice !== undefined && { tool_choice: choice }) },
    warnings,
  };
}

function configurationOf(
  { configuration: recorded }: RecordedConfiguration,
  target: ReplayTarget,
): Record<string, unknown> | null {
  if (target.configuration === undefined) return recorded;
  const merged = Object.entries({ ...recorded, ...target.configuration }).filter(([, value]) => value !== null);
  return merged.length === 0 ? null : Object.fromEntries(merged);
}

/**
 * The template that renders what a run sent. For a turn of an agent whose prompt is a template, only the rendered messages are
 * recorded.
 */
function templateOf({ input, metadata }: RunDetail): string {
  if (metadata?.['isTemplate'] !== true) return input.promptText;
  return joinMessages(
    input.messages.map((message) => ({
      role: message.role === 'tool' ? 'user' : message.role,
      text: literalTemplate(textOfMessage(message)),
      opening: '',
    })),
  );
}

/** Whether a template can't express what a run sent: steps of tools, and files without a variable. */
function needsMessages({ input: { messages }, origin }: RunDetail): boolean {
  const has = (kind: string) => messages.some(({ content }) => content.some(({ type }) => type === kind));
  return has('toolCall') || has('toolResult') || (origin.api !== 'completions' && has('file'));
}

function requestOf(
  original: RunDetail,
  target: ReplayTarget,
  recorded: RecordedConfiguration,
  promptText: string,
): CompletionRequest {
  const parsed = completionRequest.safeParse({
    promptText,
    systemMessage: target.systemMessage === undefined ? original.input.systemMessage : target.systemMessage,
    aiSystem: target.aiSystem ?? original.aiSystem,
    model: target.model ?? original.model,
    configuration: configurationOf(recorded, target),
    replacements: original.input.replacements,
    dataspaceIds: original.input.dataspaceIds,
    metadata: { replayOf: original.runId },
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new AppError('invalid_request', `${issue?.path.join('.') ?? 'The request'}: ${issue?.message ?? 'not valid'}.`);
}

/** The messages of a run with the calls and results that led to it. The tools don't run again. */
function continuationOf(
  run: ContinuableRun,
  { aiSystem, model }: CompletionRequest,
  providers: Pick<Providers, 'resolve'>,
): RunContinuation {
  // What is stored for a provider, such as signed reasoning, only goes back to the model that made it.
  const isSameModel = providers.resolve(aiSystem, model).servedBy === run.servedBy;
  const messages = isSameModel ? run.messages : publicMessages(run.messages);
  const results = messages.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === 'toolResult' ? [part.content] : [])),
  );
  const { promptId, promptVersionId, citations } = run;
  return {
    conversationId: timeOrderedId(),
    messages,
    results,
    storedPrompt: promptId === null || promptVersionId === null ? null : { promptId, promptVersionId },
    citations,
  };
}

/** The request that runs an original again with the target's changes. Throws `AppError` if it isn't valid. */
export async function replayRequest(
  original: RunDetail,
  target: ReplayTarget,
  {
    readToContinue,
    providers,
  }: {
    readonly readToContinue: (runId: string) => Promise<ContinuableRun | null>;
    readonly providers: Pick<Providers, 'resolve'>;
  },
): Promise<ReplayedRequest> {
  const missing = missingMessages(original);
  if (missing !== null) throw new AppError('conflict', missing);
  const isWhole = needsMessages(original);
  const recorded = recordedConfiguration(original, target);
  const { warnings } = recorded;
  if (isWhole && target.promptText !== undefined)
    throw new AppError(
      'conflict',
      'This run has calls and results of tools, or files, which another prompt would leave out. Replay it with its own prompt.',
    );
  const promptText = target.promptText ?? templateOf(original);
  const run = isWhole ? await readToContinue(original.runId) : null;
  if (run) {
    const text = run.promptText || original.title || 'Replay';
    const request = { ...requestOf(original, target, recorded, text), replacements: null, dataspaceIds: null };
    return { request, warnings, continuation: continuationOf(run, request, providers) };
  }
  if (promptText === '') {
    throw new AppError('conflict', 'The texts of this run were deleted, so it cannot be run again.');
  }
  return { request: requestOf(original, target, recorded, promptText), warnings };
}
