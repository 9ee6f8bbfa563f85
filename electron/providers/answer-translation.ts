import { randomUUID } from 'node:crypto';
import type { LanguageModelV4GenerateResult, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { FinishReason } from '../../shared/contract/completions.ts';
import { toFinishReason, toUsage } from './model-translation.ts';
import type { ModelAnswer, ModelPart, ModelToolCall, ToolCallState } from './provider.ts';

type Options = NonNullable<ToolCallState['options']>;
type ReasoningBlock = { text: string; options?: Options | undefined };

/** Some providers report `stop` after calls. */
function withCalls(finishReason: FinishReason, hasCalls: boolean): FinishReason {
  return hasCalls && finishReason === 'Stop' ? 'ToolCalls' : finishReason;
}

/** Servers may leave ids out or repeat them. Results need unique ones. */
function uniqueId(id: string, taken: Set<string>): string {
  const unique = id === '' || taken.has(id) ? `call_${randomUUID()}` : id;
  taken.add(unique);
  return unique;
}

/** Many servers and gateways write nothing for a call without arguments. Programs parse them as JSON. */
const argumentsOf = (input: string): string => (input.trim() === '' ? '{}' : input);

/** The state to store with a call; the reasoning belongs to the first call after it. */
function stateOf(options: unknown, reasoning: ReasoningBlock[]): { providerState?: ToolCallState } {
  const blocks = reasoning.splice(0);
  if (options === undefined && blocks.length === 0) return {};
  return {
    providerState: {
      ...(options === undefined ? {} : { options: options as Options }),
      ...(blocks.length === 0 ? {} : { reasoning: blocks }),
    },
  };
}

/** Null if the provider reports that the answer is broken. Tools that the provider runs itself are not calls. */
export function toAnswer({ content, finishReason, usage }: LanguageModelV4GenerateResult): ModelAnswer | null {
  const reason = toFinishReason(finishReason);
  if (reason === null) return null;
  let text = '';
  let reasoning = '';
  const blocks: ReasoningBlock[] = [];
  const toolCalls: ModelToolCall[] = [];
  const taken = new Set<string>();
  for (const part of content) {
    if (part.type === 'text') text += part.text;
    else if (part.type === 'reasoning') {
      reasoning += part.text;
      blocks.push({ text: part.text, options: part.providerMetadata as Options | undefined });
    } else if (part.type === 'tool-call' && !part.providerExecuted) {
      const id = uniqueId(part.toolCallId, taken);
      const call = { id, name: part.toolName, arguments: argumentsOf(part.input) };
      toolCalls.push({ ...call, ...stateOf(part.providerMetadata, blocks) });
    }
  }
  return {
    content: text,
    reasoning: reasoning === '' ? null : reasoning,
    finishReason: withCalls(reason, toolCalls.length > 0),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...toUsage(usage),
  };
}

type ToolStreamPart = Extract<
  LanguageModelV4StreamPart,
  { type: 'tool-input-start' | 'tool-input-delta' | 'tool-call' | 'reasoning-start' | 'reasoning-end' }
>;

interface StreamedCall {
  readonly index: number;
  hasArguments: boolean;
  isComplete: boolean;
}

/** Translates the parts of one streamed answer. */
export class StreamTranslation {
  readonly #reasoning: ReasoningBlock[] = [];
  readonly #blocks = new Map<string, ReasoningBlock>();
  readonly #calls = new Map<string, StreamedCall>();
  readonly #taken = new Set<string>();
  #callCount = 0;

  /** The parts for callers; a single one without a list, and null if there are none. */
  translate(part: LanguageModelV4StreamPart): ModelPart | ModelPart[] | null {
    switch (part.type) {
      case 'text-delta':
        return part.delta === '' ? null : { type: 'text-delta', text: part.delta };
      case 'reasoning-delta':
        this.#noteReasoning(part.id, part.delta, part.providerMetadata);
        return part.delta === '' ? null : { type: 'reasoning-delta', text: part.delta };
      case 'reasoning-start':
      case 'reasoning-end':
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-call':
        return this.#translateTool(part);
      case 'finish':
        return this.#finish(part);
      default:
        return null;
    }
  }

  #translateTool(part: ToolStreamPart): ModelPart[] | null {
    switch (part.type) {
      case 'reasoning-start':
      case 'reasoning-end':
        this.#noteReasoning(part.id, '', part.providerMetadata);
        return null;
      case 'tool-input-start':
        return part.providerExecuted ? null : [this.#start(part.id, part.toolName)];
      case 'tool-input-delta': {
        const call = this.#calls.get(part.id);
        if (!call || part.delta === '') return null;
        call.hasArguments = true;
        return [{ type: 'tool-call-delta', index: call.index, text: part.delta }];
      }
      case 'tool-call':
        return part.providerExecuted ? null : this.#end(part);
    }
  }

  /** Anthropic sends the signature of a block with an empty delta, OpenAI with its start and its end. */
  #noteReasoning(id: string, text: string, metadata: unknown): void {
    let block = this.#blocks.get(id);
    if (!block) {
      block = { text: '' };
      this.#blocks.set(id, block);
      this.#reasoning.push(block);
    }
    block.text += text;
    if (typeof metadata !== 'object' || metadata === null) return;
    const merged: Record<string, Record<string, unknown>> = { ...block.options };
    for (const [name, values] of Object.entries(metadata as Options)) merged[name] = { ...merged[name], ...values };
    block.options = merged;
  }

  #start(id: string, name: string): ModelPart {
    const index = this.#callCount++;
    this.#calls.set(id, { index, hasArguments: false, isComplete: false });
    return { type: 'tool-call-start', index, id: uniqueId(id, this.#taken), name };
  }

  #end({ toolCallId, toolName, input, providerMetadata }: Extract<ToolStreamPart, { type: 'tool-call' }>): ModelPart[] {
    const parts: ModelPart[] = [];
    if (this.#calls.get(toolCallId)?.isComplete !== false) parts.push(this.#start(toolCallId, toolName));
    const call = this.#calls.get(toolCallId)!;
    call.isComplete = true;
    if (!call.hasArguments) parts.push({ type: 'tool-call-delta', index: call.index, text: argumentsOf(input) });
    const state = stateOf(providerMetadata, this.#reasoning);
    parts.push({ type: 'tool-call-end', index: call.index, ...state });
    return parts;
  }

  #finish(part: Extract<LanguageModelV4StreamPart, { type: 'finish' }>): ModelPart | null {
    // The stream ended between two events. Cohere's package has no other sign of it.
    if (part.finishReason.unified === 'other' && part.finishReason.raw === undefined) return null;
    const finishReason = toFinishReason(part.finishReason);
    if (finishReason === null) return null;
    return { type: 'finish', finishReason: withCalls(finishReason, this.#callCount > 0), ...toUsage(part.usage) };
  }
}
