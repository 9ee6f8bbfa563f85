import type { ToolCallState } from '../providers/provider.ts';
import { isObject, jsonOf, objectOf, textOf } from './fields.ts';
import { limitFields } from './record-limits.ts';

const maxUsageValues = 500;

export interface StreamedCall {
  id: string;
  name: string;
  arguments: string;
  providerState?: ToolCallState;
}

/** What has been read of a response, whole or in parts. */
export class Reading {
  id: string | null = null;
  readonly texts: string[] = [];
  readonly reasoning: string[] = [];
  readonly calls = new Map<number, StreamedCall>();
  reason: string | null = null;
  rawUsage: Record<string, unknown> | null = null;
  error: string | null = null;
  isComplete = false;

  call(index: number): StreamedCall {
    let call = this.calls.get(index);
    if (!call) this.calls.set(index, (call = { id: '', name: '', arguments: '' }));
    return call;
  }

  noteUsage(usage: unknown): void {
    if (isObject(usage)) this.rawUsage = limitFields({ ...this.rawUsage, ...usage }, maxUsageValues);
  }

  noteError(value: unknown): void {
    const error = objectOf(value)['error'] ?? value;
    this.error =
      textOf(objectOf(error)['message']) || (typeof error === 'string' ? error : jsonOf(error).slice(0, 1000));
  }
}
