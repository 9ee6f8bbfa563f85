import { AppError } from '../../shared/app-error.ts';
import type { GuardFinding, GuardSettings, RunModeration } from '../../shared/contract/guard.ts';
import { categories as allCategories, type Category } from '../../shared/contract/moderation.ts';
import type { ModelPart } from '../providers/provider.ts';
import { createGuardMeter, type GuardCosts } from './guard-meter.ts';
import { GuardedText, type TextClassifier } from './guarded-text.ts';
import { screenAnswer, type ScreenedPart } from './screen-answer.ts';

/** The texts that a run is about to send. */
export interface GuardedPrompt {
  readonly renderedPrompt: string;
  readonly systemMessage: string | null;
}

/** The guard of one run. */
export interface RunGuard {
  /** A whole answer as its caller may have it. A refused one has no content and the finish reason `ContentFilter`. */
  judge<Answer extends { content: string; finishReason: string }>(
    answer: Answer,
  ): Promise<Answer | (Answer & { content: ''; finishReason: 'ContentFilter' })>;
  /** The parts of a streamed answer as its caller may have them; cut before the first sentence that is refused. */
  screen(parts: AsyncIterable<ModelPart>): AsyncIterable<ScreenedPart>;
  /** What was found, once every check is done. `content` is what the caller was sent. */
  findings(content: string): Promise<RunModeration>;
}

export interface Guard {
  /**
   * Looks at a prompt as the settings say. Null when they say nothing, so that a run costs nothing more; a promise when the run
   * has to wait for the verdict. It rejects with `invalid_request` for a prompt that is refused.
   */
  begin(prompt: GuardedPrompt, options: { signal: AbortSignal }): RunGuard | Promise<RunGuard> | null;
  /** What the checks of this start of the host took. */
  costs(): GuardCosts;
}

export interface GuardOptions {
  readonly settings: () => GuardSettings;
  readonly classifier: TextClassifier;
}

const categoryNames: Record<Category, string> = {
  sexual: 'sexual',
  hatred: 'hatred',
  harassment: 'harassment',
  selfHarm: 'self-harm',
  violence: 'violence',
};

function namesOf(categories: readonly Category[]): string {
  return allCategories
    .filter((category) => categories.includes(category))
    .map((category) => categoryNames[category])
    .join(', ');
}

function refusal(field: 'promptText' | 'systemMessage', categories: readonly Category[]): AppError {
  const names = namesOf(categories);
  return new AppError(
    'invalid_request',
    `The guard blocked the prompt: ${names}. Rephrase it, or change the guard on the Moderation screen.`,
    { details: [{ field, issue: `is flagged: ${names}` }] },
  );
}

function unchecked(failure: string): AppError {
  return new AppError(
    'provider_failed',
    `The guard couldn't check this text, so it was blocked. ${failure} Try again, or change the guard on the Moderation screen.`,
  );
}

/** Applies the settings group `guard` to runs. */
export function createGuard({ settings, classifier }: GuardOptions): Guard {
  const meter = createGuardMeter();

  async function checkPrompt(prompt: GuardedPrompt, mode: 'note' | 'refuse', signal: AbortSignal) {
    const text = new GuardedText(classifier, mode);
    for (const field of ['promptText', 'systemMessage'] as const) {
      const content = field === 'promptText' ? prompt.renderedPrompt : prompt.systemMessage;
      const categories = content ? await text.check(content, { signal }) : [];
      if (mode === 'refuse' && categories.length > 0) {
        meter.note('prompts', text.finding(), true);
        throw refusal(field, categories);
      }
    }
    const finding = text.finding();
    meter.note('prompts', finding, false);
    if (mode === 'refuse' && finding.failure !== null) throw unchecked(finding.failure);
    return finding;
  }

  function guardOf(prompt: Promise<GuardFinding> | null, mode: GuardSettings['answers']): RunGuard {
    const answer = mode === 'off' ? null : new GuardedText(classifier, mode);
    const signal = new AbortController().signal;
    return {
      async judge(whole) {
        if (answer?.mode !== 'refuse' || whole.content === '') return whole;
        const categories = await answer.check(whole.content, { signal });
        if (answer.failure !== null) throw unchecked(answer.failure);
        if (categories.length === 0) return whole;
        answer.withheld = whole.content;
        return { ...whole, content: '', finishReason: 'ContentFilter' };
      },
      screen: (parts) => (answer?.mode === 'refuse' ? screenAnswer(parts, answer, unchecked) : parts),
      async findings(content) {
        if (answer?.mode === 'note' && content !== '') await answer.check(content, { signal });
        const found = answer?.hasChecked ? answer.finding() : null;
        if (found) meter.note('answers', found, found.withheld !== null);
        return { prompt: await prompt, answer: found };
      },
    };
  }

  return {
    begin(prompt, { signal }) {
      const { prompts, answers } = settings();
      if (prompts === 'off' && answers === 'off') return null;
      if (prompts === 'off') return guardOf(null, answers);
      // A prompt that is only noted is checked while the provider works; whether the caller stays makes no difference to it.
      if (prompts === 'note') return guardOf(checkPrompt(prompt, prompts, new AbortController().signal), answers);
      return checkPrompt(prompt, prompts, signal).then((finding) => guardOf(Promise.resolve(finding), answers));
    },
    costs: meter.costs,
  };
}
