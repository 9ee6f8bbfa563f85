import { type Fields, isObject, jsonOf, listOf, objectOf, textOf } from './fields.ts';
import { providerText } from './provider-items.ts';
import type { Reading, StreamedCall } from './reading.ts';

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

const messageTexts = (item: Fields): string[] =>
  listOf(item['content']).map((part) => {
    const { text, refusal } = objectOf(part);
    return textOf(text) || textOf(refusal);
  });

function readOutputItem(reading: Reading, value: unknown): void {
  const item = objectOf(value);
  let called: StreamedCall | null = null;
  if (item['type'] === 'message') {
    for (const text of messageTexts(item)) reading.texts.push(text);
  } else if (item['type'] === 'reasoning') {
    const parts = [...listOf(item['summary']), ...listOf(item['content'])];
    for (const part of parts) reading.reasoning.push(textOf(objectOf(part)['text']));
  } else if (textOf(item['type']) !== '') {
    const call = callIn(item);
    if (call) called = Object.assign(reading.call(reading.calls.size), call);
    else reading.texts.push(itemText(item));
  }
  reading.noteItem(item['id'], called);
}

const streamedItems = new Set(['', 'message', 'reasoning']);

/** Texts and summaries have come as deltas. */
function readDoneItem(reading: Reading, value: unknown): void {
  const item = objectOf(value);
  if (!streamedItems.has(textOf(item['type']))) readOutputItem(reading, item);
  else reading.noteItem(item['id'], null, item['type'] === 'message' ? messageTexts(item).join('') : null);
}

function readResponseObject(reading: Reading, response: Fields): void {
  reading.id ??= textOf(response['id']) || null;
  if (isObject(response['error'])) reading.noteError(response['error']);
  const reason = objectOf(response['incomplete_details'])['reason'];
  if (typeof reason === 'string') reading.reason = reason;
  reading.noteUsage(response['usage']);
}

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
      readDoneItem(reading, value['item']);
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
