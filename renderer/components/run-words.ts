import type { AppError } from '../../shared/app-error.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import type { ConversationRun, OriginApi } from '../../shared/contract/conversations.ts';
import { providerName } from '../../shared/provider-names.ts';
import { isKeyedProvider } from '../stores/playground-drafts.ts';
import { endpointOf } from './models/model-list.ts';

export interface RunFailure {
  code: string;
  message: string;
  /** Null for a restored run: its request ended long ago. */
  error: AppError | null;
}

/** The parts of a failed run that its message uses. */
export interface FailedRun {
  aiSystem: AiSystem;
  model: string;
  /** The partial answer. */
  text: string;
}

export type Remedy = 'set-key' | 'pick-model' | 'install-model' | 'open-endpoints' | 'open-routes' | 'run-again';

export interface FailureWords {
  title: string;
  /** What it means and how to fix it. */
  reason: string;
  /** Most useful first. */
  remedies: readonly Remedy[];
}

type Describe = (run: FailedRun) => { title: string; remedies: readonly Remedy[] };

/** The provider's name; an endpoint's own name in quotes. */
function homeOf({ aiSystem, model }: Omit<FailedRun, 'text'>): string {
  const endpoint = endpointOf({ aiSystem, name: model });
  return endpoint === null ? providerName(aiSystem) : `"${endpoint}"`;
}

function access({ aiSystem }: Pick<FailedRun, 'aiSystem'>): Remedy {
  if (isKeyedProvider(aiSystem)) return 'set-key';
  return aiSystem === 'OpenAiCompatible' ? 'open-endpoints' : 'open-routes';
}

const descriptions: Record<string, Describe> = {
  provider_key_refused: (run) => ({
    title: `${homeOf(run)} rejected the request`,
    remedies: [access(run), 'run-again'],
  }),
  provider_not_configured: (run) => ({ title: `${homeOf(run)} is not set up`, remedies: [access(run), 'pick-model'] }),
  model_not_installed: () => ({
    title: 'On-device model not downloaded',
    remedies: ['install-model', 'pick-model'],
  }),
  rate_limited: (run) => ({
    title: `Rate limit or quota of ${homeOf(run)} reached`,
    remedies: ['run-again', 'pick-model'],
  }),
  provider_overloaded: (run) => ({ title: `${homeOf(run)} is overloaded`, remedies: ['run-again', 'pick-model'] }),
  provider_silent: (run) => ({ title: `${homeOf(run)} stopped responding`, remedies: ['run-again', 'pick-model'] }),
  provider_failed: (run) => ({ title: `Error from ${homeOf(run)}`, remedies: ['run-again', 'pick-model'] }),
  credits_exhausted: () => ({ title: 'No credits left', remedies: ['run-again'] }),
  invalid_request: () => ({ title: 'The request was rejected', remedies: ['run-again', 'pick-model'] }),
};

/** A failure as text: what happened, what it means and how to fix it. */
export function failureWords(failure: RunFailure, run: FailedRun): FailureWords {
  const describe =
    descriptions[failure.code] ?? (() => ({ title: 'The run failed', remedies: ['run-again'] as const }));
  const details = failure.error?.details ?? [];
  const isModel = details.some(({ field }) => field === 'model');
  const { title, remedies } = describe(run);
  const issues = details
    .map(({ field, issue }) => `${field}: ${issue}`)
    .filter((issue) => !failure.message.includes(issue));
  const notes = run.text === '' ? [] : ['Partial answer kept.'];
  // The host's message often starts with the sentence that is the title.
  const opening = `${title}. `;
  const message = failure.message.startsWith(opening) ? failure.message.slice(opening.length) : failure.message;
  return {
    title: isModel ? `${run.model} can't be used` : title,
    reason: [message, ...issues, ...notes].join(' '),
    remedies: isModel ? ['pick-model'] : remedies,
  };
}

const finishWords: Record<string, string> = {
  Length: 'The answer was cut off at max_tokens or at the end of the context. Raise max_tokens or shorten the prompt.',
  ContentFilter: "The provider's content filter stopped the answer. Change the prompt or choose another model.",
};

/** `ContentFilter` as "Content filter". */
export function finishName(finishReason: string): string {
  return finishReason.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const originNames: Readonly<Record<OriginApi, string>> = {
  completions: 'Touchstone',
  'openai-chat': 'OpenAI chat completions',
  'openai-responses': 'OpenAI responses',
  'openai-embeddings': 'OpenAI embeddings',
  'anthropic-messages': 'Anthropic messages',
  'gemini-content': 'Gemini content',
  import: 'Imported log',
};

/** The API through which a run got into the audit. */
export function originName(api: OriginApi): string {
  return originNames[api];
}

/** How a run with an answer ended: "Complete (content filter)". */
export function completeWords(finishReason: string | null): string {
  return finishReason === null ? 'Complete' : `Complete (${finishName(finishReason).toLowerCase()})`;
}

/** The meaning of a finish reason other than `Stop`; null if it needs no explanation. */
export function finishMeaning(finishReason: string | null): string | null {
  return finishReason === null ? null : (finishWords[finishReason] ?? null);
}

/** What the guard kept from the caller of a run; null if it kept nothing. */
export function blockedWords({ output, moderation }: Pick<ConversationRun, 'output' | 'moderation'>): string | null {
  if (moderation?.answer?.withheld == null) return null;
  return output.content === '' ? 'The guard blocked the answer.' : 'The guard blocked the rest of the answer.';
}
