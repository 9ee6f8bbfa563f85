import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createParser } from 'eventsource-parser';
import type { TextPart } from './provider.ts';

/** The text of an event that has nothing else to say; null for every other event. */
export type PlainText = (event: unknown) => string | null;

/** The body that a package reads. */
interface PackageBody {
  enqueue(bytes: Uint8Array): void;
  close(): void;
  /** There is room for more texts. */
  resume(): void;
}

/** Longer events are left to the package. */
const maxPlainCharacters = 65_536;

const encoder = new TextEncoder();

/** One event of a body that a package reads. Packages read nothing but its data. */
function toEvent(data: string): string {
  return `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
}

/**
 * Takes the texts out of a provider's stream, because most events have nothing else: a package needs 30 µs for each, in four streams
 * and a schema. Every other event goes to the package, in order.
 *
 * Texts are only taken while the package has nothing left to say. After an event that went to the package, so does the next text, and
 * what follows waits until the package has returned exactly this text. A package that doesn't return it, because it needs the text for
 * something else, gets everything from then on.
 */
export class DirectTexts {
  readonly #plainText: PlainText;
  #decoder = new TextDecoder();
  #parser = createParser({ onEvent: ({ data }) => this.#accept(data) });
  #body: PackageBody | null = null;
  /** Text that goes to the package with the next write. */
  #unsent = '';
  /** Events that the package got, and those that it has begun to read. */
  #sentEvents = 0;
  #readEvents = 0;
  #isDirect = false;
  #isOff = false;
  /** The text that the package has to return. */
  #expected: string | null = null;
  #held: string[] = [];
  #heldCharacters = 0;
  #isEnded = false;
  #texts: string[] = [];
  #characters = 0;
  /** Called when texts were taken. */
  onTexts: () => void = () => undefined;

  constructor(plainText: PlainText) {
    this.#plainText = plainText;
  }

  /** Starts a response. A package may continue an answer with a second one. */
  begin(body: PackageBody): void {
    this.#body = body;
    this.#decoder = new TextDecoder();
    this.#parser.reset();
    this.#isDirect = false;
    this.#isEnded = false;
  }

  /** Characters that wait for the reader. */
  get waiting(): number {
    return this.#characters + this.#heldCharacters;
  }

  /** Whether the package has to return a text before more events are looked at. */
  get isHolding(): boolean {
    return this.#expected !== null;
  }

  take(bytes: Uint8Array): void {
    const before = this.#texts.length;
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    this.#send();
    if (this.#texts.length > before) this.onTexts();
  }

  /** Closes the package's body when it has everything. */
  end(): void {
    this.#isEnded = true;
    if (!this.isHolding) this.#body?.close();
  }

  /** The texts so far. They precede everything that the package returns later. */
  takeTexts(): string[] {
    if (this.#characters === 0) return this.#texts;
    const texts = this.#texts;
    this.#texts = [];
    this.#characters = 0;
    this.#body?.resume();
    return texts;
  }

  /** Notes what the package has returned. It must have been asked for raw chunks, one for each event. */
  note(part: LanguageModelV4StreamPart): void {
    if (part.type === 'raw') this.#readEvents += 1;
    else if (part.type === 'text-delta' && part.delta === this.#expected && this.#readEvents === this.#sentEvents) {
      this.#isDirect = true;
      this.#release();
    }
  }

  /** The package doesn't return the text. It gets everything from now on. */
  giveUp(): void {
    this.#isOff = true;
    this.#release();
  }

  #release(): void {
    this.#expected = null;
    const held = this.#held;
    this.#held = [];
    this.#heldCharacters = 0;
    for (const data of held) this.#accept(data);
    this.#send();
    if (this.#isEnded && !this.isHolding) this.#body?.close();
  }

  #accept(data: string): void {
    if (this.isHolding) {
      this.#held.push(data);
      this.#heldCharacters += data.length;
      return;
    }
    const text = this.#isOff ? null : this.#textOf(data);
    if (this.#isDirect && text !== null) {
      this.#texts.push(text);
      this.#characters += text.length;
      return;
    }
    this.#isDirect = false;
    this.#expected = text;
    this.#unsent += toEvent(data);
    // Packages skip this one without a raw chunk.
    if (data !== '[DONE]') this.#sentEvents += 1;
  }

  #textOf(data: string): string | null {
    if (data.length > maxPlainCharacters || !data.startsWith('{')) return null;
    try {
      const text = this.#plainText(JSON.parse(data));
      return text === '' ? null : text;
    } catch {
      return null;
    }
  }

  #send(): void {
    if (this.#unsent === '') return;
    const bytes = encoder.encode(this.#unsent);
    this.#unsent = '';
    this.#body?.enqueue(bytes);
  }
}

/** The texts that were taken since the last ones. */
export interface DirectPart {
  readonly type: 'texts';
  readonly part: TextPart;
}

function toPart(pieces: readonly string[]): DirectPart {
  const [first] = pieces;
  if (pieces.length === 1) return { type: 'texts', part: { type: 'text-delta', text: first! } };
  return { type: 'texts', part: { type: 'text-delta', text: pieces.join(''), pieces } };
}

type Read = Awaited<ReturnType<ReadableStreamDefaultReader<LanguageModelV4StreamPart>['read']>>;

/** Whether a package says nothing for two turns of the event loop. It needs no timer and no socket to read an event. */
async function isSilent(wake: Promise<void>): Promise<boolean> {
  const turns = nextTurn().then(() => nextTurn(true));
  return (await Promise.race([wake, turns])) === true;
}

/** The parts of a package and the texts that go around it, in the order in which the provider sent them. */
export async function* readParts(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  texts: DirectTexts,
): AsyncGenerator<LanguageModelV4StreamPart | DirectPart, void, void> {
  const reader = stream.getReader();
  let arrived: { read: Read } | { error: unknown } | null = null;
  let wake = Promise.withResolvers<void>();
  texts.onTexts = () => wake.resolve();
  const readNext = () => {
    arrived = null;
    reader.read().then(
      (read) => {
        arrived = { read };
        wake.resolve();
      },
      (error: unknown) => {
        arrived = { error };
        wake.resolve();
      },
    );
  };
  readNext();
  try {
    for (;;) {
      wake = Promise.withResolvers();
      const pieces = texts.takeTexts();
      if (pieces.length > 0) {
        yield toPart(pieces);
        continue;
      }
      const next = arrived as { read: Read } | { error: unknown } | null;
      if (next === null) {
        if (!texts.isHolding) await wake.promise;
        else if (await isSilent(wake.promise)) texts.giveUp();
        continue;
      }
      if ('error' in next) throw next.error;
      if (next.read.done) return;
      texts.note(next.read.value);
      readNext();
      yield next.read.value;
    }
  } finally {
    texts.onTexts = () => undefined;
    void reader.cancel().catch(() => undefined);
  }
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether an object has no field beyond the known ones, except those that are null. */
function hasOnly(value: unknown, known: ReadonlySet<string>): value is Fields {
  if (!isObject(value)) return false;
  for (const name in value) if (!known.has(name) && value[name] !== null) return false;
  return true;
}

function only(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : null;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

// What an event may have besides its text, without a meaning for the answer.
const chatChunk = new Set([
  'id',
  'object',
  'created',
  'model',
  'service_tier',
  'system_fingerprint',
  'obfuscation',
  'choices',
]);
const chatChoice = new Set(['index', 'delta']);
const chatDelta = new Set(['role', 'content']);
const textDelta = new Set([
  'type',
  'item_id',
  'output_index',
  'content_index',
  'delta',
  'sequence_number',
  'obfuscation',
  'logprobs',
]);
const contentDelta = new Set(['type', 'index', 'delta']);
const typedText = new Set(['type', 'text']);
const geminiChunk = new Set(['candidates', 'usageMetadata', 'modelVersion', 'responseId']);
const geminiCandidate = new Set(['content', 'index', 'safetyRatings']);
const geminiContent = new Set(['parts', 'role']);
const textField = new Set(['text']);
const cohereDelta = new Set(['message']);
const cohereMessage = new Set(['content']);

/** OpenAI's chat completions, and every API that copies them. */
export const chatText: PlainText = (event) => {
  if (!hasOnly(event, chatChunk)) return null;
  const choice = only(event['choices']);
  if (!hasOnly(choice, chatChoice) || choice['index'] !== 0) return null;
  return hasOnly(choice['delta'], chatDelta) ? textOrNull(choice['delta']['content']) : null;
};

/** OpenAI's responses. */
export const responsesText: PlainText = (event) => {
  if (!hasOnly(event, textDelta) || event['type'] !== 'response.output_text.delta') return null;
  const probabilities = event['logprobs'];
  if (Array.isArray(probabilities) && probabilities.length > 0) return null;
  return textOrNull(event['delta']);
};

/** Anthropic's messages. */
export const messagesText: PlainText = (event) => {
  if (!hasOnly(event, contentDelta) || event['type'] !== 'content_block_delta') return null;
  const delta = event['delta'];
  return hasOnly(delta, typedText) && delta['type'] === 'text_delta' ? textOrNull(delta['text']) : null;
};

/** Gemini's stream. Its last chunk repeats the usage. */
export const geminiText: PlainText = (event) => {
  if (!hasOnly(event, geminiChunk)) return null;
  const candidate = only(event['candidates']);
  if (!hasOnly(candidate, geminiCandidate) || !hasOnly(candidate['content'], geminiContent)) return null;
  const part = only(candidate['content']['parts']);
  return hasOnly(part, textField) ? textOrNull(part['text']) : null;
};

/** Cohere's chat. */
export const cohereText: PlainText = (event) => {
  if (!hasOnly(event, contentDelta) || event['type'] !== 'content-delta') return null;
  const delta = event['delta'];
  if (!hasOnly(delta, cohereDelta) || !hasOnly(delta['message'], cohereMessage)) return null;
  const content = delta['message']['content'];
  return hasOnly(content, textField) ? textOrNull(content['text']) : null;
};
