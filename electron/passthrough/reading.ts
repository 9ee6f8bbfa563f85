import { withCalls } from '../../shared/contract/tools.ts';
import type { ToolCallState } from '../providers/provider.ts';
import type { AnswerItem } from '../storage/thread-store.ts';
import { isObject, jsonOf, objectOf, textOf } from './fields.ts';
import { limitFields } from './record-limits.ts';

const maxUsageValues = 500;

const word = /^[\w.:/-]{0,64}$/;

/** The numbers and words of a usage. It is metadata, and on record as it is: a text doesn't belong there. */
function countsIn(value: unknown): unknown {
  if (typeof value === 'string') return word.test(value) ? value : null;
  if (Array.isArray(value)) return value.map(countsIn);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([name]) => word.test(name));
  return Object.fromEntries(entries.map(([name, inner]) => [name, countsIn(inner)]));
}

export interface StreamedCall {
  id: string;
  name: string;
  arguments: string;
  providerState?: ToolCallState;
}

/** An item of a response, by the id that later calls may refer to. */
export interface ReadItem extends AnswerItem {
  readonly id: string;
}

/** An item with the number of the texts before it and after it. */
interface OpenItem {
  readonly id: string;
  readonly texts: readonly [number, number];
  readonly call: StreamedCall | null;
}

/** More than a model writes in one answer. */
const maxItems = 512;
const itemId = /^[\w.:-]{1,200}$/;

/** Choices that are recorded: as many as a program can ask for. */
export const maxChoices = 128;

/** One of several answers to the same request. */
export class Choice {
  readonly texts: string[] = [];
  readonly reasoning: string[] = [];
  readonly calls = new Map<number, StreamedCall>();

  call(index: number): StreamedCall {
    let call = this.calls.get(index);
    if (!call) this.calls.set(index, (call = { id: '', name: '', arguments: '' }));
    return call;
  }

  get namedCalls(): StreamedCall[] {
    return [...this.calls.values()].filter(({ name }) => name !== '');
  }
}

/** What has been read of a response, whole or in parts. Its own texts are those of the first choice. */
export class Reading extends Choice {
  id: string | null = null;
  /** Calls that the provider runs, by the number of their block, until all of their arguments have arrived. */
  readonly serverCalls = new Map<number, StreamedCall>();
  readonly #others = new Map<number, Choice>();
  readonly #items: OpenItem[] = [];
  #textsOfItems = 0;
  reason: string | null = null;
  rawUsage: Record<string, unknown> | null = null;
  error: string | null = null;
  isComplete = false;

  /** A choice by its number, from 0. */
  choice(index: number): Choice {
    if (index === 0) return this;
    let choice = this.#others.get(index);
    if (!choice) this.#others.set(index, (choice = new Choice()));
    return choice;
  }

  /** The answer, and after it those of the other choices, each under its number. */
  get content(): string {
    return this.#withOthers(this.texts, (choice) => withCalls(choice.texts.join(''), choice.namedCalls));
  }

  get thoughts(): string {
    return this.#withOthers(this.reasoning, ({ reasoning }) => reasoning.join(''));
  }

  #withOthers(first: readonly string[], read: (choice: Choice) => string): string {
    const others = [...this.#others].toSorted(([one], [other]) => one - other);
    const marked = others.map(([index, choice]) => [index, read(choice)] as const).filter(([, text]) => text !== '');
    return [first.join(''), ...marked.map(([index, text]) => `\n\n[choice ${index + 1}]\n${text}`)].join('');
  }

  /**
   * Notes an item whose texts are those since the last one. `text` is all of its text if that came in parts: those of another item may be
   * among them.
   */
  noteItem(id: unknown, call: StreamedCall | null = null, text: string | null = null): void {
    const texts = [this.#textsOfItems, this.texts.length] as const;
    this.#textsOfItems = this.texts.length;
    if (this.#items.length === maxItems || typeof id !== 'string' || !itemId.test(id)) return;
    if (text === null || this.texts.slice(...texts).join('') === text) this.#items.push({ id, texts, call });
  }

  /** As later calls may refer to them. */
  get items(): ReadItem[] {
    const { namedCalls } = this;
    let counted = 0;
    let length = 0;
    const lengthUpTo = (end: number) => {
      for (; counted < end; counted += 1) length += this.texts[counted]!.length;
      return length;
    };
    return this.#items.map(({ id, texts: [start, end], call }) => {
      const text = [lengthUpTo(start), lengthUpTo(end)] as const;
      return { id, text: text[0] === text[1] ? null : text, call: call && namedCalls.indexOf(call) };
    });
  }

  /** Later counts replace earlier ones. Some servers end a stream with null for what they have reported at its start. */
  noteUsage(usage: unknown): void {
    if (!isObject(usage)) return;
    const reported = Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null));
    this.rawUsage = countsIn(limitFields({ ...this.rawUsage, ...reported }, maxUsageValues)) as Record<string, unknown>;
  }

  noteError(value: unknown): void {
    const error = objectOf(value)['error'] ?? value;
    this.error =
      textOf(objectOf(error)['message']) || (typeof error === 'string' ? error : jsonOf(error).slice(0, 1000));
  }
}
