import type { AppError } from '../../shared/app-error.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import { isKeyedProvider } from '../stores/playground-drafts.ts';
import { endpointOf } from './models/model-list.ts';

export interface RunFailure {
  code: string;
  message: string;
  /** Null for a run that was put back: its request is long over. */
  error: AppError | null;
}

/** What of a failed run its words tell. */
export interface FailedRun {
  aiSystem: AiSystem;
  model: string;
  /** What it had answered until then. */
  text: string;
}

export type Remedy = 'set-key' | 'pick-model' | 'install-model' | 'open-endpoints' | 'run-again';

export interface FailureWords {
  title: string;
  /** What it means and what to do. */
  reason: string;
  /** Most useful first. */
  remedies: readonly Remedy[];
}

type Describe = (run: FailedRun) => { title: string; remedies: readonly Remedy[] };

/** Who refused, as a person calls it: the endpoint by its own name. */
function homeOf({ aiSystem, model }: Omit<FailedRun, 'text'>): string {
  return endpointOf({ aiSystem, name: model }) ?? aiSystem;
}

const access = (run: Pick<FailedRun, 'aiSystem'>): Remedy =>
  isKeyedProvider(run.aiSystem) ? 'set-key' : 'open-endpoints';

const descriptions: Record<string, Describe> = {
  provider_key_refused: (run) => ({ title: `${homeOf(run)} refused the key`, remedies: [access(run), 'run-again'] }),
  provider_not_configured: (run) => ({ title: `${homeOf(run)} is not set up`, remedies: [access(run), 'pick-model'] }),
  model_not_installed: () => ({
    title: 'The on-device model is not here yet',
    remedies: ['install-model', 'pick-model'],
  }),
  rate_limited: (run) => ({
    title: `The rate limit of ${homeOf(run)} is reached`,
    remedies: ['run-again', 'pick-model'],
  }),
  provider_overloaded: (run) => ({ title: `${homeOf(run)} is overloaded`, remedies: ['run-again', 'pick-model'] }),
  provider_silent: (run) => ({ title: `${homeOf(run)} went silent`, remedies: ['run-again', 'pick-model'] }),
  provider_failed: (run) => ({ title: `${homeOf(run)} failed`, remedies: ['run-again', 'pick-model'] }),
  credits_exhausted: () => ({ title: 'The credits are used up', remedies: ['run-again'] }),
  invalid_request: () => ({ title: 'The run was refused', remedies: ['run-again', 'pick-model'] }),
};

/** A failure in words: what refused, what it means and the ways out. */
export function failureWords(failure: RunFailure, run: FailedRun): FailureWords {
  const describe =
    descriptions[failure.code] ?? (() => ({ title: 'The run failed', remedies: ['run-again'] as const }));
  const details = failure.error?.details ?? [];
  const isModel = details.some(({ field }) => field === 'model');
  const { title, remedies } = describe(run);
  const issues = details
    .map(({ field, issue }) => `${field}: ${issue}`)
    .filter((issue) => !failure.message.includes(issue));
  const kept = run.text === '' ? [] : ['The text until then is kept.'];
  return {
    title: isModel ? `${run.model} cannot be used` : title,
    reason: [failure.message, ...issues, ...kept].join(' '),
    remedies: isModel ? ['pick-model'] : remedies,
  };
}

const finishWords: Record<string, string> = {
  Length: 'Cut off: the answer reached max_tokens or the end of the context. Raise max_tokens, or shorten the prompt.',
  ContentFilter: "Ended by the provider's content filter. Change the prompt, or pick another model.",
  ToolCalls: 'The model asked for a tool. The playground has none to give it.',
};

/** What a finish reason other than `Stop` means; null where there is nothing to say. */
export function finishMeaning(finishReason: string | null): string | null {
  return finishReason === null ? null : (finishWords[finishReason] ?? null);
}
