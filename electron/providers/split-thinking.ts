import { GrowingText } from './growing-text.ts';
import type { ModelAnswer, ModelCallOptions, ModelPart, ModelRequest, Provider } from './provider.ts';

const opening = '<think>';
const closing = '</think>';

interface SplitText {
  readonly reasoning: string;
  readonly content: string;
}

const isSpaceInLine = (character: string | undefined) => character !== undefined && /[^\S\n]/.test(character);
const isLineEnd = (character: string | undefined) => character === undefined || character === '\n';

/** Reads the white space alone: a line can be 4 MB of tags. */
function startsLine(text: string, at: number): boolean {
  let start = at;
  while (isSpaceInLine(text[start - 1])) start--;
  return isLineEnd(text[start - 1]);
}

/** Whether a line has only this closing tag and white space. */
function fillsLine(text: string, at: number): boolean {
  let end = at + closing.length;
  while (isSpaceInLine(text[end])) end++;
  return isLineEnd(text[end]) && startsLine(text, at);
}

/** Whether the text before a closing tag has the opening one on a line's start, as an example in code has. */
function opensLine(text: string): boolean {
  const at = text.lastIndexOf(opening);
  return at >= 0 && startsLine(text, at);
}

/** The position of a closing tag on a separate line, without an opening one: a text about tags has it elsewhere, or has both. */
function bareClosing(text: string): number {
  let from = 0;
  let at = text.indexOf(closing);
  while (at >= 0 && (!fillsLine(text, at) || opensLine(text.slice(from, at)))) {
    from = at + closing.length;
    at = text.indexOf(closing, from);
  }
  return at;
}

/** The reasoning before a closing tag whose opening tag the model's chat template has written; null for other texts. */
function splitBare(text: string): SplitText | null {
  const at = bareClosing(text);
  if (at < 0) return null;
  return { reasoning: text.slice(0, at).trim(), content: text.slice(at + closing.length).trimStart() };
}

function splitTagged(text: string): SplitText | null {
  const trimmed = text.trimStart();
  if (!trimmed.startsWith(opening)) return null;
  const end = trimmed.indexOf(closing);
  const reasoning = trimmed.slice(opening.length, end < 0 ? undefined : end).trim();
  return { reasoning, content: end < 0 ? '' : trimmed.slice(end + closing.length).trimStart() };
}

/** Models that sent a closing tag without an opening one. */
class BareModels {
  readonly #names = new Set<string>();

  has(model: string): boolean {
    return this.#names.has(model);
  }

  set(model: string, isBare: boolean): void {
    if (!isBare) this.#names.delete(model);
    else if (this.#names.size < 500) this.#names.add(model);
  }
}

function splitAnswer(answer: ModelAnswer, model: string, bareModels: BareModels): ModelAnswer {
  if (answer.reasoning !== null) return answer;
  const bare = splitTagged(answer.content) ? null : splitBare(answer.content);
  if (bare) bareModels.set(model, true);
  const split = splitTagged(answer.content) ?? bare;
  if (!split) return answer;
  return { ...answer, content: split.content, reasoning: split.reasoning === '' ? null : split.reasoning };
}

/** Characters at the end of a text that may start the closing tag. */
function partialClosing(text: string): number {
  const at = text.lastIndexOf('<');
  return at >= 0 && closing.startsWith(text.slice(at)) ? text.length - at : 0;
}

type Corrected = Pick<ModelAnswer, 'content' | 'reasoning'>;
type TextMode = 'start' | 'thinking' | 'after' | 'text';

/** Splits one stream. `push` returns the parts of a piece of text, and `end` the rest. */
class StreamSplitter {
  readonly #isBareModel: boolean;
  #mode: TextMode = 'start';
  /** Whether the reasoning starts without a tag, because the model is known to omit it. */
  #isAssumed = false;
  #pending = '';
  readonly #whole = new GrowingText();

  constructor(isBareModel: boolean) {
    this.#isBareModel = isBareModel;
  }

  /** The provider separates the reasoning itself. */
  leave(): void {
    this.#mode = 'text';
  }

  /** Notes a text that isn't split, if `take` takes it. */
  pass(text: string, take: () => boolean): boolean {
    if (this.#mode !== 'text' || !take()) return false;
    this.#whole.add(text);
    return true;
  }

  push(text: string): ModelPart[] {
    this.#whole.add(text);
    this.#pending += text;
    if (this.#mode === 'start' && !this.#start()) return [];
    const parts: ModelPart[] = [];
    if (this.#mode === 'thinking') {
      const end = this.#pending.indexOf(closing);
      const known = end < 0 ? this.#pending.length - partialClosing(this.#pending) : end;
      if (known > 0) parts.push({ type: 'reasoning-delta', text: this.#pending.slice(0, known) });
      this.#pending = this.#pending.slice(end < 0 ? known : end + closing.length);
      if (end >= 0) this.#mode = 'after';
    }
    if (this.#mode === 'after') {
      this.#pending = this.#pending.trimStart();
      if (this.#pending !== '') this.#mode = 'text';
    }
    if (this.#mode === 'text' && this.#pending !== '') {
      parts.push({ type: 'text-delta', text: this.#pending });
      this.#pending = '';
    }
    return parts;
  }

  /** Whether the start is long enough to decide. Until then only what follows its white space is pending. */
  #start(): boolean {
    this.#pending = this.#pending.trimStart();
    if (this.#pending !== opening && opening.startsWith(this.#pending)) return false;
    const isTagged = this.#pending.startsWith(opening);
    this.#isAssumed = !isTagged && this.#isBareModel;
    this.#mode = isTagged || this.#isAssumed ? 'thinking' : 'text';
    this.#pending = isTagged ? this.#pending.slice(opening.length) : this.#whole.read();
    return true;
  }

  /** The rest, and the split of the whole text if it only shows at its end. */
  end(isCut: boolean): { parts: ModelPart[]; corrected: Corrected | null } {
    const whole = this.#whole.read();
    if (this.#mode === 'thinking') {
      // Without a closing tag it was no reasoning, unless the answer was truncated inside it.
      if (this.#isAssumed && !isCut) {
        return {
          parts: [{ type: 'text-delta', text: whole }],
          corrected: { content: whole, reasoning: null },
        };
      }
      const rest: ModelPart[] = this.#pending === '' ? [] : [{ type: 'reasoning-delta', text: this.#pending }];
      return { parts: rest, corrected: null };
    }
    const isText = this.#mode === 'start' && whole !== '';
    const parts: ModelPart[] = isText ? [{ type: 'text-delta', text: whole }] : [];
    const startsAsText = this.#mode === 'text' && !splitTagged(whole) && !this.#isAssumed;
    return { parts, corrected: startsAsText ? splitBare(whole) : null };
  }
}

async function* splitStream(
  provider: Provider,
  request: ModelRequest,
  options: ModelCallOptions,
  bareModels: BareModels,
): AsyncGenerator<ModelPart, void, void> {
  const { model } = request;
  const splitter = new StreamSplitter(bareModels.has(model));
  let isSeparated = false;
  const { takeText: take } = options;
  const parts = provider.stream(request, {
    ...options,
    ...(take && { takeText: (part) => splitter.pass(part.text, () => take(part)) }),
  });
  for await (const part of parts) {
    if (part.type === 'reasoning-delta') {
      isSeparated = true;
      splitter.leave();
      yield part;
    } else if (part.type === 'text-delta') {
      const split = splitter.push(part.text);
      const isWhole = split.length === 1 && split[0]!.type === 'text-delta' && split[0]!.text === part.text;
      if (isWhole) yield part;
      else yield* split;
    } else if (part.type !== 'finish') yield part;
    else {
      const { parts: rest, corrected } = splitter.end(part.finishReason === 'Length');
      yield* rest;
      if (corrected && !isSeparated) {
        bareModels.set(model, corrected.reasoning !== null);
        yield { ...part, corrected };
      } else yield part;
    }
  }
}

/**
 * Separates the reasoning that a server leaves in the text, between `<think>` and `</think>` or before a bare `</think>`: many chat
 * templates write the opening tag themselves. In a stream a bare closing tag comes too late for the parts that were sent; it
 * corrects the stored answer, and later streams of the model start as reasoning.
 */
export function splitThinking(provider: Provider): Provider {
  const bareModels = new BareModels();
  return {
    ...provider,
    generate: async (request, options) =>
      splitAnswer(await provider.generate(request, options), request.model, bareModels),
    stream: (request, options) => splitStream(provider, request, options, bareModels),
  };
}
