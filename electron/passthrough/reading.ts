import { withCalls } from '../../shared/contract/tools.ts';
import type { ToolCallState } from '../providers/provider.ts';
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

  noteUsage(usage: unknown): void {
    if (!isObject(usage)) return;
    this.rawUsage = countsIn(limitFields({ ...this.rawUsage, ...usage }, maxUsageValues)) as Record<string, unknown>;
  }

  noteError(value: unknown): void {
    const error = objectOf(value)['error'] ?? value;
    this.error =
      textOf(objectOf(error)['message']) || (typeof error === 'string' ? error : jsonOf(error).slice(0, 1000));
  }
}
