import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createParser } from 'eventsource-parser';
import { type AnswerEnd, type PlainText, type ReadEnd, RepeatedEvents } from './plain-events.ts';
import type { TakeText, TextPart } from './provider.ts';

/** The body that a package reads. */
interface PackageBody {
  /** Gives the package its response. It waits until then. */
  open(): void;
  enqueue(bytes: Uint8Array): void;
  close(): void;
  /** There is room for more texts. */
  resume(): void;
}

function toPart(first: string, others: readonly string[]): TextPart {
  if (others.length === 0) return { type: 'text-delta', text: first };
  return { type: 'text-delta', text: first + others.join(''), pieces: [first, ...others] };
}

/** Longer events are left to the package. */
const maxPlainCharacters = 65_536;

/** Ends the streams of OpenAI's chat completions, and of every API that copies them. */
const lastEvent = '[DONE]';

/** The chunks of more are too long to be taken, so they would be encoded twice. */
const maxOfferedTexts = 16;

const encoder = new TextEncoder();

/** Null for an event that is no object. */
function parsed(data: string): unknown {
  if (!data.startsWith('{')) return null;
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

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
 *
 * A package that can read the end of an answer without a stream makes none for an answer of nothing but text: its streams take a third of
 * the time in which such a call starts.
 */
export class DirectTexts {
  readonly #plainText: PlainText;
  readonly #readEnd: ReadEnd | null;
  readonly #repeated: RepeatedEvents;
  #decoder = new TextDecoder();
  #parser = createParser({ onEvent: ({ data }) => this.#accept(data) });
  #body: PackageBody | null = null;
  /** Whether the package has its response. */
  #isOpen = false;
  #end: AnswerEnd = {};
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
  /** Most reads bring one text, and V8 would keep an array for each longer than it needs to. */
  #firstText = '';
  #otherTexts: string[] = [];
  #characters = 0;
  /** Called when texts were taken. */
  onTexts: () => void = () => undefined;

  /** Without `readEnd` the package reads the end of every answer. */
  constructor(plainText: PlainText, readEnd: ReadEnd | null = null) {
    this.#plainText = plainText;
    this.#readEnd = readEnd;
    this.#repeated = new RepeatedEvents(plainText);
  }

  /** Starts a response. A package may continue an answer with a second one. */
  begin(body: PackageBody): void {
    this.#body = body;
    this.#decoder = new TextDecoder();
    this.#parser.reset();
    this.#isDirect = false;
    this.#isEnded = false;
    this.#isOpen = false;
    this.#end = {};
    if (!this.#readEnd) this.openPackage();
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
    const before = this.#characters;
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    this.#send();
    if (this.#characters > before) this.onTexts();
  }

  /** Closes the package's body when it has everything. */
  end(): void {
    this.#isEnded = true;
    if (this.#isOpen) this.#closeBody();
    else if (this.#end.finish_reason === undefined) this.openPackage();
    else this.onTexts();
  }

  /** The end of a complete answer, if the package has no response. */
  get answerEnd(): AnswerEnd | null {
    return this.#isEnded && !this.#isOpen ? this.#end : null;
  }

  /** Gives the package its response, and all events so far that aren't texts. */
  openPackage(): void {
    this.#isOpen = true;
    this.#body?.open();
    this.#send();
    if (this.#isEnded) this.#closeBody();
  }

  #closeBody(): void {
    if (!this.isHolding) this.#body?.close();
  }

  /** The texts so far. They precede everything that the package returns later. */
  takeTexts(): readonly string[] {
    if (this.#characters === 0) return [];
    const texts = [this.#firstText, ...this.#otherTexts];
    this.#forgetTexts();
    return texts;
  }

  #forgetTexts(): void {
    this.#characters = 0;
    if (this.#otherTexts.length > 0) this.#otherTexts = [];
    this.#body?.resume();
  }

  /** Hands the texts so far to a reader that waits for them. Returns whether it has taken them. */
  offer(take: TakeText): boolean {
    if (this.#characters === 0 || this.#otherTexts.length >= maxOfferedTexts) return false;
    if (!take(toPart(this.#firstText, this.#otherTexts))) return false;
    this.#forgetTexts();
    return true;
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
    if (this.#isEnded) this.#closeBody();
  }

  #accept(data: string): void {
    if (this.isHolding) {
      this.#held.push(data);
      this.#heldCharacters += data.length;
      return;
    }
    const takesTexts = this.#isDirect || !this.#isOpen;
    const isLong = data.length > maxPlainCharacters;
    if (takesTexts && !isLong && this.#takeText(this.#repeated.textOf(data))) return;
    const event = this.#isOff || isLong ? null : parsed(data);
    const text = event === null ? null : this.#plainText(event) || null;
    if (takesTexts && this.#takeText(text)) return this.#repeated.learn(data, text!);
    if (!this.#isOpen && !this.#takeEnd(data, event)) this.openPackage();
    this.#isDirect = false;
    this.#expected = text;
    this.#unsent += toEvent(data);
    // Packages skip this one without a raw chunk.
    if (data !== lastEvent) this.#sentEvents += 1;
  }

  #takeText(text: string | null): boolean {
    if (!text) return false;
    if (this.#characters === 0) this.#firstText = text;
    else this.#otherTexts.push(text);
    this.#characters += text.length;
    return true;
  }

  /** Returns whether an event only says how the answer ends, or nothing. It is kept for a package that is needed later. */
  #takeEnd(data: string, event: unknown): boolean {
    const end = data === lastEvent ? {} : event === null ? null : (this.#readEnd?.(event) ?? null);
    if (end === null || this.#unsent.length > maxPlainCharacters) return false;
    this.#end = { ...this.#end, ...end };
    return true;
  }

  #send(): void {
    if (this.#unsent === '' || !this.#isOpen) return;
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

type Read = Awaited<ReturnType<ReadableStreamDefaultReader<LanguageModelV4StreamPart>['read']>>;

/** Whether a package says nothing for two turns of the event loop. It needs no timer and no socket to read an event. */
async function isSilent(wake: Promise<void>): Promise<boolean> {
  const turns = nextTurn().then(() => nextTurn(true));
  return (await Promise.race([wake, turns])) === true;
}

type StreamPart = LanguageModelV4StreamPart;
type Arrived = { read: Read } | { error: unknown } | null;

/** Reads a package's stream, which opens when the package has its response. `onArrival` is called for each part and for a failure. */
class PackageReader {
  readonly #onArrival: () => void;
  #reader: ReadableStreamDefaultReader<StreamPart> | null = null;
  #isCancelled = false;
  /** The next part or the failure; null until it is there. */
  arrived: Arrived = null;

  constructor(opening: PromiseLike<{ stream: ReadableStream<StreamPart> }>, onArrival: () => void) {
    this.#onArrival = onArrival;
    opening.then(
      ({ stream }) => {
        this.#reader = stream.getReader();
        if (this.#isCancelled) this.cancel();
        else this.readNext();
      },
      (error: unknown) => this.#arrive({ error }),
    );
  }

  readNext(): void {
    this.arrived = null;
    this.#reader!.read().then(
      (read) => this.#arrive({ read }),
      (error: unknown) => this.#arrive({ error }),
    );
  }

  cancel(): void {
    this.#isCancelled = true;
    void this.#reader?.cancel().catch(() => undefined);
  }

  #arrive(arrived: Arrived): void {
    this.arrived = arrived;
    this.#onArrival();
  }
}

/**
 * The parts of a package and the texts that go around it, in the order in which the provider sent them. `finish` is the last part for the
 * end of an answer of which the package got nothing. If it fails, the package reads that end. `opening` then never resolves.
 * Texts that come while the reader waits are offered to `take` first.
 */
export async function* readParts(
  opening: PromiseLike<{ stream: ReadableStream<StreamPart> }>,
  texts: DirectTexts,
  finish: (end: AnswerEnd) => Promise<StreamPart>,
  take: TakeText = () => false,
): AsyncGenerator<StreamPart | DirectPart, void, void> {
  let wake = Promise.withResolvers<void>();
  let isWaiting = false;
  const resume = () => {
    isWaiting = false;
    wake.resolve();
  };
  let isOffering = false;
  const offer = () => {
    isOffering = false;
    if (!isWaiting || !texts.offer(take) || texts.answerEnd) resume();
  };
  // One read of the socket can have hundreds of texts, which come one by one. They are sent together.
  texts.onTexts = () => {
    if (!isOffering) queueMicrotask(offer);
    isOffering = true;
  };
  const reader = new PackageReader(opening, resume);
  try {
    for (;;) {
      wake = Promise.withResolvers();
      const [first, ...others] = texts.takeTexts();
      if (first !== undefined) {
        yield { type: 'texts', part: toPart(first, others) };
        continue;
      }
      if (texts.answerEnd) {
        const last = await finish(texts.answerEnd).catch(() => null);
        if (last) return yield last;
        texts.openPackage();
      }
      const { arrived } = reader;
      if (arrived === null) {
        isWaiting = !texts.isHolding;
        if (isWaiting) await wake.promise;
        else if (await isSilent(wake.promise)) texts.giveUp();
        continue;
      }
      if ('error' in arrived) throw arrived.error;
      if (arrived.read.done) return;
      texts.note(arrived.read.value);
      reader.readNext();
      yield arrived.read.value;
    }
  } finally {
    texts.onTexts = () => undefined;
    reader.cancel();
  }
}
