import { isKeyedProvider } from '../../../stores/playground-drafts.ts';
import { endpointOf } from '../model/model-list.ts';
import type { RunFailure, ShownRun } from './shown-run.ts';

export type Remedy = 'set-key' | 'pick-model' | 'install-model' | 'open-endpoints' | 'run-again';

export interface FailureWords {
  title: string;
  /** What it means and what to do. */
  reason: string;
  /** Most useful first. */
  remedies: readonly Remedy[];
}

type Describe = (run: Pick<ShownRun, 'aiSystem' | 'model' | 'text'>) => { title: string; remedies: readonly Remedy[] };

/** Who refused, as a person calls it: the endpoint by its own name. */
function homeOf({ aiSystem, model }: Pick<ShownRun, 'aiSystem' | 'model'>): string {
  return endpointOf({ aiSystem, name: model }) ?? aiSystem;
}

const access = (run: Pick<ShownRun, 'aiSystem'>): Remedy =>
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
export function failureWords(failure: RunFailure, run: Pick<ShownRun, 'aiSystem' | 'model' | 'text'>): FailureWords {
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
