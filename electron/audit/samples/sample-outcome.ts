import type { Usage } from '../../../shared/contract/completions.ts';
import { costOf } from '../../providers/model-prices.ts';
import type { RunOutcome } from '../../storage/storage.ts';
import type { Chance } from './chance.ts';
import type { SampleModel } from './sample-models.ts';

/** About how many characters a token has. */
const charactersOfToken = 4;

const failures = [
  { code: 'rate_limited', message: 'Rate limit reached. Retry in 20 s.' },
  { code: 'provider_overloaded', message: 'The provider is overloaded. Try again in a moment.' },
  { code: 'provider_silent', message: 'The provider stopped responding for 60 s.' },
  { code: 'provider_failed', message: 'Server error from the provider (500).' },
] as const;

function usageOf(prompt: string, answer: string): Usage {
  const prompt_tokens = Math.ceil(prompt.length / charactersOfToken) + 8;
  const completion_tokens = Math.max(1, Math.ceil(answer.length / charactersOfToken));
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function failed(chance: Chance, createdAt: number): RunOutcome {
  const error = chance.pick(failures);
  const totalMs = error.code === 'provider_silent' ? 60_000 : chance.between(180, 2400);
  return {
    status: 'Failed',
    content: '',
    reasoning: null,
    finishReason: 'Error',
    error,
    usage: null,
    cost: null,
    credits: 0,
    firstTokenMs: null,
    totalMs,
    completedAt: createdAt + totalMs,
    citations: [],
  };
}

/** How a run on a model could have ended that was asked `prompt` and would answer `answer`; one in twelve goes wrong. */
export function sampleOutcome(
  chance: Chance,
  model: SampleModel,
  prompt: string,
  answer: string,
  createdAt: number,
): RunOutcome {
  if (chance.happens(0.05)) return failed(chance, createdAt);
  const isCancelled = chance.happens(0.035);
  const content = isCancelled ? answer.slice(0, Math.floor(answer.length * chance.next())) : answer;
  const usage = usageOf(prompt, content);
  const firstTokenMs = Math.round(model.firstTokenMs * (0.6 + 0.5 * chance.next() + 2 * chance.next() ** 8));
  const totalMs = Math.round(
    firstTokenMs + (usage.completion_tokens * 1000) / (model.tokensPerSecond * (0.7 + 0.6 * chance.next())),
  );
  return {
    status: isCancelled ? 'Cancelled' : 'Completed',
    content,
    reasoning: null,
    finishReason: isCancelled ? 'Cancelled' : 'Stop',
    error: null,
    usage: isCancelled ? null : usage,
    cost: isCancelled ? null : costOf(model.prices, usage),
    credits: 1,
    firstTokenMs,
    totalMs,
    completedAt: createdAt + totalMs,
    citations: [],
  };
}
