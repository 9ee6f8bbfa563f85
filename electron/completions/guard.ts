import { AppError } from '../../shared/app-error.ts';
import { type Configuration, namedParameters } from '../../shared/contract/completions.ts';
import {
  categories as allCategories,
  type Category,
  type GuardFinding,
  type GuardSettings,
  type RunModeration,
} from '../../shared/contract/moderation.ts';
import type { GuardCosts } from '../../shared/contract/moderation-window.ts';
import { type Message, textOfMessage, textOfToolCalls } from '../../shared/contract/messages.ts';
import { withCalls } from '../../shared/contract/tools.ts';
import type { ModelPart, ModelToolCall } from '../providers/provider.ts';
import { isTextType } from '../../shared/contract/files.ts';
import type { PromptFiles } from './prompt-file.ts';
import { GuardedText, screenAnswer, type ScreenedPart, type TextClassifier } from './guarded-text.ts';

type GuardCost = GuardCosts['prompts'];

const maxSamples = 1000;

class SideMeter {
  readonly #durations: number[] = [];
  #checked = 0;
  #flagged = 0;
  #blocked = 0;

  note({ milliseconds, categories }: GuardFinding, isBlocked: boolean): void {
    this.#durations[this.#checked % maxSamples] = milliseconds;
    this.#checked += 1;
    if (categories.length > 0) this.#flagged += 1;
    if (isBlocked) this.#blocked += 1;
  }

  cost(): GuardCost {
    const sorted = this.#durations.toSorted((one, other) => one - other);
    const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? null;
    return { checked: this.#checked, flagged: this.#flagged, refused: this.#blocked, p50: at(0.5), p95: at(0.95) };
  }
}

/** Counts the guard's checks since the host started. */
function createGuardMeter() {
  const sides = { prompts: new SideMeter(), answers: new SideMeter() };
  return {
    note: (side: keyof typeof sides, finding: GuardFinding, isBlocked: boolean) => sides[side].note(finding, isBlocked),
    costs: (): GuardCosts => ({ prompts: sides.prompts.cost(), answers: sides.answers.cost() }),
  };
}

/** The texts that a run will send. */
export interface GuardedPrompt {
  readonly renderedPrompt: string;
  readonly systemMessage: string | null;
  /** The part of the configuration that is sent. Providers read instructions, documents and tools from it. */
  readonly configuration: Configuration;
  /** Earlier turns that are sent along. They may be from a time without the guard. */
  readonly history?: readonly Message[];
  /** Files that are sent along. */
  readonly files?: PromptFiles;
  /** Why a part of what is sent can't be checked, such as "It is too large."; absent if all of it can. */
  readonly uncheckable?: string | undefined;
  /** What the continuation of a run adds; absent for other runs. */
  readonly continued?: ContinuedTexts | undefined;
}

/** Texts of the continuation of a run that are not in its rendered prompt, or that have a separate field. */
export interface ContinuedTexts {
  /** The results of the tools, in their order in the request. */
  readonly results: readonly string[];
  /** The calls that are sent back to the model. */
  readonly calls: string;
}

interface GuardedAnswer {
  readonly content: string;
  readonly finishReason: string;
  readonly toolCalls?: readonly ModelToolCall[];
}

type BlockedAnswer<Answer> = Answer & { content: ''; finishReason: 'ContentFilter' };

/** The guard of one run. */
export interface RunGuard {
  /** The answer that the caller gets. A blocked one has no content, no calls and the finish reason `ContentFilter`. */
  judge<Answer extends GuardedAnswer>(answer: Answer): Promise<Answer | BlockedAnswer<Answer>>;
  /** The parts of a streamed answer that the caller gets. They end before the first blocked sentence. */
  screen(parts: AsyncIterable<ModelPart>): AsyncIterable<ScreenedPart>;
  /** The findings of all checks. `text` is what the caller got: the answer, and the calls of tools. */
  findings(text: string): Promise<RunModeration>;
}

export interface Guard {
  /**
   * Checks a prompt according to the settings. Null if the guard is off, so that a run costs nothing more. A promise if the run has to
   * wait for the verdict; it rejects with `invalid_request` for a blocked prompt.
   */
  begin(prompt: GuardedPrompt, options: { signal: AbortSignal }): RunGuard | Promise<RunGuard> | null;
  /** Whether checks of prompts cost money. */
  paysForPrompts(): boolean;
  /** The time that checks took since the host started. */
  costs(): GuardCosts;
  /** Checks that take another second fail, so that the runs of a closing host are recorded. */
  close(): void;
}

export interface GuardOptions {
  readonly settings: () => GuardSettings;
  readonly classifier: TextClassifier & { isPaid(): boolean };
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

/** A text of a request, under the field that an error names. */
interface SentText {
  readonly field: string;
  readonly text: string;
  /** Its parts. They are checked as one text, because a request can have thousands. */
  readonly parts?: readonly SentText[];
}

function rejection({ field }: SentText, categories: readonly Category[]): AppError {
  const names = namesOf(categories);
  const message =
    field === 'conversationId'
      ? `The guard blocked an earlier message of the conversation: ${names}. Start a new conversation, or change the guard on the Moderation screen.`
      : `The guard blocked the prompt: ${names}. Rephrase it, or change the guard on the Moderation screen.`;
  return new AppError('invalid_request', message, { details: [{ field, issue: `is flagged: ${names}` }] });
}

/** Fields that name text stored at the provider, which can't be checked here. */
export const storedTexts = [
  'prompt',
  'previous_response_id',
  'conversation',
  'cachedContent',
  'cached_content',
] as const;

function requireCheckable({ configuration, uncheckable }: GuardedPrompt): void {
  if (uncheckable !== undefined) {
    throw new AppError(
      'invalid_request',
      `The guard can't check this request. ${uncheckable} Change it, or change the guard on the Moderation screen.`,
    );
  }
  const stored = storedTexts.find((name) => configuration[name] != null);
  if (stored === undefined) return;
  const field = `configuration.${stored}`;
  throw new AppError(
    'invalid_request',
    `The guard can't check text that is stored at the provider. Remove \`${stored}\`, or change the guard on the Moderation screen.`,
    { details: [{ field, issue: "names text that the guard can't check" }] },
  );
}

/** Only the text of files can be checked. */
function requireCheckableFiles(files: PromptFiles | undefined): void {
  for (const { name, mediaType } of files?.values() ?? []) {
    if (isTextType(mediaType)) continue;
    throw new AppError(
      'invalid_request',
      `The guard can't check the file "${name}" (${mediaType}). Remove it, or change the guard on the Moderation screen.`,
      { details: [{ field: 'replacements', issue: `has the file "${name}" that the guard can't check` }] },
    );
  }
}

/** Texts of parameters and JSON schemas that never need a check. */
const plainWords = new Set([
  ...namedParameters,
  ...(
    'none minimal low medium high xhigh max auto default text json_object json_schema schema name strict type function ' +
    'object string number integer boolean array null properties required items description enum additionalProperties ' +
    'input_schema functionDeclarations generationConfig OBJECT STRING NUMBER INTEGER BOOLEAN ARRAY'
  ).split(' '),
]);

/** Every text inside a value, field names included, in their order. In linear time: a program's tools can have millions of values. */
export function textsIn(value: unknown, texts: string[] = []): string[] {
  if (typeof value === 'string') {
    if (!plainWords.has(value)) texts.push(value);
  } else if (Array.isArray(value)) {
    for (const inner of value) textsIn(inner, texts);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      textsIn(name, texts);
      textsIn(inner, texts);
    }
  }
  return texts;
}

function configurationText(configuration: Configuration): SentText {
  const parts = Object.entries(configuration)
    .map(([name, value]) => ({
      field: `configuration.${name}`,
      text: [...textsIn(name), ...textsIn(value)].join('\n'),
    }))
    .filter(({ text }) => text !== '');
  return { field: 'configuration', text: parts.map(({ text }) => text).join('\n\n'), parts };
}

/** Parts of a flagged text that are checked one by one to name the field. */
const maxNamedParts = 16;

/** The first part that is flagged alone, otherwise the whole text. */
async function flaggedPart(
  whole: SentText,
  parts: readonly SentText[],
  checked: GuardedText,
  signal: AbortSignal,
): Promise<SentText> {
  for (const part of parts.slice(0, maxNamedParts)) {
    if ((await checked.check(part.text, { signal })).length > 0) return part;
  }
  return whole;
}

function unchecked(failure: string): AppError {
  return new AppError(
    'provider_failed',
    `The guard couldn't check this text, so it was blocked. ${failure} Try again, or change the guard on the Moderation screen.`,
  );
}

function textFiles(files: PromptFiles | undefined): SentText[] {
  return [...(files?.values() ?? [])].flatMap(({ mediaType, data }) =>
    isTextType(mediaType) ? [{ field: 'replacements', text: data.toString() }] : [],
  );
}

function textsOfContinuation(continued: ContinuedTexts | undefined): SentText[] {
  if (!continued) return [];
  const parts = continued.results.map((text, index) => ({ field: `toolResults[${index}].content`, text }));
  return [
    { field: 'toolResults', text: continued.results.join('\n\n'), parts },
    { field: 'continueRunId', text: continued.calls },
  ];
}

/** What people and tools wrote in earlier turns, and the calls that are sent back to the model. */
function textsOfHistory(history: readonly Message[]): SentText[] {
  return history.flatMap((message) => {
    const texts = [message.role === 'assistant' ? '' : textOfMessage(message), textOfToolCalls(message)];
    return texts.map((text) => ({ field: 'conversationId', text }));
  });
}

/** The texts to check. Earlier turns only if a flagged one blocks the run: otherwise each new turn would note them again. */
function textsOf(prompt: GuardedPrompt, mode: 'note' | 'refuse'): SentText[] {
  return [
    ...textsOfContinuation(prompt.continued),
    { field: 'promptText', text: prompt.renderedPrompt },
    { field: 'systemMessage', text: prompt.systemMessage ?? '' },
    configurationText(prompt.configuration),
    ...textFiles(prompt.files),
    ...(mode === 'note' ? [] : textsOfHistory(prompt.history ?? [])),
  ].filter(({ text }) => text !== '');
}

/** What the caller gets of a whole answer that can be blocked. */
async function judgeAnswer<Answer extends GuardedAnswer>(
  whole: Answer,
  guarded: GuardedText,
  signal: AbortSignal,
): Promise<Answer | BlockedAnswer<Answer>> {
  const text = withCalls(whole.content, whole.toolCalls ?? []);
  if (text === '') return whole;
  const categories = await guarded.check(text, { signal });
  if (guarded.failure !== null) throw unchecked(guarded.failure);
  if (categories.length === 0) return whole;
  guarded.withheld = text;
  const { toolCalls: _, ...rest } = whole;
  return { ...rest, content: '', finishReason: 'ContentFilter' } as BlockedAnswer<Answer>;
}

/** Of the five seconds that a host has to close. */
const maxClosingMilliseconds = 1000;

/** A classifier whose checks fail when the host closes. */
function endedBy(closing: AbortSignal, classifier: TextClassifier): TextClassifier {
  return {
    async classify(text, { signal }) {
      try {
        return await classifier.classify(text, { signal: AbortSignal.any([signal, closing]) });
      } catch (error) {
        throw closing.aborted ? new AppError('provider_failed', 'The host was closed during the check.') : error;
      }
    },
  };
}

/** Applies the settings group `guard` to runs. */
export function createGuard({ settings, classifier }: GuardOptions): Guard {
  const meter = createGuardMeter();
  const closing = new AbortController();
  const limited = endedBy(closing.signal, classifier);

  async function checkPrompt(prompt: GuardedPrompt, mode: 'note' | 'refuse', signal: AbortSignal) {
    if (mode === 'refuse') {
      requireCheckable(prompt);
      requireCheckableFiles(prompt.files);
    }
    const text = new GuardedText(limited, mode);
    for (const sent of textsOf(prompt, mode)) {
      const categories = await text.check(sent.text, { signal });
      if (mode === 'refuse' && categories.length > 0) {
        meter.note('prompts', text.finding(), true);
        throw rejection(sent.parts ? await flaggedPart(sent, sent.parts, text, signal) : sent, categories);
      }
    }
    const found = text.finding();
    const finding = { ...found, failure: found.failure ?? prompt.uncheckable ?? null };
    meter.note('prompts', finding, false);
    if (mode === 'refuse' && finding.failure !== null) throw unchecked(finding.failure);
    return finding;
  }

  function guardOf(prompt: Promise<GuardFinding> | null, mode: GuardSettings['answers']): RunGuard {
    const answer = mode === 'off' ? null : new GuardedText(limited, mode);
    const signal = new AbortController().signal;
    return {
      judge: async (whole) => (answer?.mode === 'refuse' ? judgeAnswer(whole, answer, signal) : whole),
      screen: (parts) => (answer?.mode === 'refuse' ? screenAnswer(parts, answer, unchecked) : parts),
      async findings(text) {
        if (answer?.mode === 'note' && text !== '') await answer.check(text, { signal });
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
      // In mode `note` the check runs beside the provider's call. It continues after the caller leaves.
      if (prompts === 'note') return guardOf(checkPrompt(prompt, prompts, new AbortController().signal), answers);
      return checkPrompt(prompt, prompts, signal).then((finding) => guardOf(Promise.resolve(finding), answers));
    },
    paysForPrompts: () => settings().prompts !== 'off' && classifier.isPaid(),
    costs: meter.costs,
    close: () => void setTimeout(() => closing.abort(), maxClosingMilliseconds).unref(),
  };
}
