import { AppError } from '../../shared/app-error.ts';
import { maxToolCalls, type ToolCallChunk, withCalls } from '../../shared/contract/tools.ts';
import type { ModelToolCall, ToolCallModelPart } from '../providers/provider.ts';

/** Throws `provider_failed` for more calls than an answer may have. */
function requireCount(count: number, servedBy: string): void {
  if (count <= maxToolCalls) return;
  throw new AppError('provider_failed', `${servedBy} called more than ${maxToolCalls} tools at once. Try again.`);
}

/** The calls of one answer, which arrive complete or in parts. */
export class ToolCalls {
  readonly #servedBy: string;
  readonly #calls: (ModelToolCall | undefined)[] = [];
  #characters = 0;

  constructor(servedBy: string) {
    this.#servedBy = servedBy;
  }

  /** Names, arguments and the provider's stored data. */
  get characters(): number {
    return this.#characters;
  }

  /** In the order in which the model started them. */
  get list(): readonly ModelToolCall[] {
    return this.#calls.filter((call) => call !== undefined);
  }

  /** Throws `provider_failed` for too many. */
  addAll(calls: readonly ModelToolCall[]): void {
    requireCount(calls.length, this.#servedBy);
    this.#calls.push(...calls);
    this.#characters += withCalls('', calls).length;
  }

  /** The chunk for the caller; null if the part contains nothing for them. Throws `provider_failed` for too many calls. */
  add(part: ToolCallModelPart): ToolCallChunk | null {
    const { index } = part;
    const call = this.#calls[index];
    if (part.type === 'tool-call-start') {
      requireCount(index + 1, this.#servedBy);
      const { id, name } = part;
      this.#calls[index] = { id, name, arguments: '' };
      this.#characters += id.length + name.length;
      return { index, id, name, arguments: '' };
    }
    if (!call) throw new TypeError('A part of a tool call came before its start');
    if (part.type === 'tool-call-delta') {
      this.#calls[index] = { ...call, arguments: call.arguments + part.text };
      this.#characters += part.text.length;
      return { index, arguments: part.text };
    }
    const { providerState } = part;
    if (providerState) {
      this.#calls[index] = { ...call, providerState };
      this.#characters += JSON.stringify(providerState).length;
    }
    return null;
  }
}
