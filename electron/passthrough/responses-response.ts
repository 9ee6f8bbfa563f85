import { type Fields, isObject, jsonOf, listOf, objectOf, textOf } from './fields.ts';
import { providerText } from './provider-items.ts';
import type { Reading } from './reading.ts';

/** An item that the program answers with a result; null for one that the provider runs. */
export function callIn(item: Fields): { id: string; name: string; arguments: string } | null {
  const { type, call_id: id, name, arguments: given, input, ...rest } = item;
  const isCall = typeof type === 'string' && type.endsWith('_call');
  if (!isCall || typeof id !== 'string') return null;
  if (type === 'function_call' || type === 'custom_tool_call')
    return { id, name: textOf(name), arguments: jsonOf(given ?? input ?? '') };
  const { action, operation, id: _, status: _status, ...other } = rest;
  return { id, name: type.slice(0, -'_call'.length), arguments: jsonOf(action ?? operation ?? other) };
}

/** What the provider ran or made, and what Touchstone doesn't know. */
export function itemText({ type, ...item }: Fields): string {
  return providerText(textOf(type) || 'item', item);
}

function readOutputItem(reading: Reading, value: unknown): void {
  const item = objectOf(value);
  if (item['type'] === 'message') {
    for (const part of listOf(item['content'])) {
      const { text, refusal } = objectOf(part);
      reading.texts.push(textOf(text) || textOf(refusal));
    }
  } else if (item['type'] === 'reasoning') {
    const parts = [...listOf(item['summary']), ...listOf(item['content'])];
    for (const part of parts) reading.reasoning.push(textOf(objectOf(part)['text']));
  } else if (textOf(item['type']) !== '') {
    const call = callIn(item);
    if (call) Object.assign(reading.call(reading.calls.size), call);
    else reading.texts.push(itemText(item));
  }
}

function readResponseObject(reading: Reading, response: Fields): void {
  reading.id ??= textOf(response['id']) || null;
  if (isObject(response['error'])) reading.noteError(response['error']);
  const reason = objectOf(response['incomplete_details'])['reason'];
  if (typeof reason === 'string') reading.reason = reason;
  reading.noteUsage(response['usage']);
}

const streamedItems = new Set(['', 'message', 'reasoning']);

/** A whole response of OpenAI's newer API, or one event of a streamed one. */
export function readResponses(reading: Reading, value: Fields): void {
  switch (value['type']) {
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      reading.texts.push(textOf(value['delta']));
      return;
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      reading.reasoning.push(textOf(value['delta']));
      return;
    case 'response.output_item.done':
      // Texts and summaries have come as deltas.
      if (!streamedItems.has(textOf(objectOf(value['item'])['type']))) readOutputItem(reading, value['item']);
      return;
    case 'response.created':
      reading.id ??= textOf(objectOf(value['response'])['id']) || null;
      return;
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      reading.isComplete = true;
      readResponseObject(reading, objectOf(value['response']));
      return;
    case 'error':
      reading.noteError(value);
      return;
    case undefined:
      if (value['error'] !== undefined && value['output'] === undefined) reading.noteError(value);
      for (const item of listOf(value['output'])) readOutputItem(reading, item);
      readResponseObject(reading, value);
      reading.isComplete = true;
      return;
    default:
      return;
  }
}
