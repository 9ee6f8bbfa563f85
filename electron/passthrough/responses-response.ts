import { type Fields, isObject, jsonOf, listOf, objectOf, textOf } from './fields.ts';
import type { Reading } from './reading.ts';

function readOutputItem(reading: Reading, value: unknown): void {
  const item = objectOf(value);
  if (item['type'] === 'message') {
    for (const part of listOf(item['content'])) {
      const { text, refusal } = objectOf(part);
      reading.texts.push(textOf(text) || textOf(refusal));
    }
  } else if (item['type'] === 'reasoning') {
    for (const part of listOf(item['summary'])) reading.reasoning.push(textOf(objectOf(part)['text']));
  } else if (item['type'] === 'function_call' || item['type'] === 'custom_tool_call') {
    const call = reading.call(reading.calls.size);
    call.id = textOf(item['call_id']);
    call.name = textOf(item['name']);
    call.arguments = jsonOf(item['arguments'] ?? item['input'] ?? '');
  }
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
      reading.reasoning.push(textOf(value['delta']));
      return;
    case 'response.output_item.done':
      // Texts and summaries have come as deltas.
      if (textOf(objectOf(value['item'])['type']).endsWith('_call')) readOutputItem(reading, value['item']);
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
