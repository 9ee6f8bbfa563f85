import type { ExchangeText, HttpExchange, OnDeviceExchange } from '../../../shared/contract/provider-exchanges.ts';
import { formatBytes, formatRunDuration, formatWhole } from '../format.ts';

/** JSON with line breaks; every other text as it came. */
function readable({ text, isCut }: ExchangeText): string {
  if (isCut || !/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function withHead(first: string, headers: readonly (readonly [string, string])[], body: ExchangeText | null): string {
  const lines = [first, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return `${lines.join('\n')}\n\n${body === null ? '' : readable(body)}`;
}

export function requestText({ request }: HttpExchange): string {
  return withHead(`${request.method} ${request.url}`, request.headers, request.body);
}

export function responseText({ response }: HttpExchange): string {
  if (response === null) return '';
  return withHead(`${response.status} ${response.statusText}`.trim(), response.headers, response.body);
}

export function promptText({ prompt, parameters }: OnDeviceExchange): string {
  const names = Object.entries(parameters).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `${names.join('\n')}\n\n${prompt?.text ?? ''}`.trimStart();
}

export function onDeviceResponseText({ reasoning, response }: OnDeviceExchange): string {
  return reasoning === null ? response.text : `Reasoning:\n${reasoning.text}\n\nResponse:\n${response.text}`;
}

export function sizeText({ bytes }: ExchangeText): string {
  return bytes < 10_000 ? `${formatWhole(bytes)} bytes` : formatBytes(bytes);
}

export function timeText({ firstByteMs, totalMs }: Pick<HttpExchange, 'firstByteMs' | 'totalMs'>): string | null {
  const parts = [
    firstByteMs === null ? null : `first byte ${formatRunDuration(firstByteMs)}`,
    totalMs === null ? null : `total ${formatRunDuration(totalMs)}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(', ');
}

export function cutText({ text, bytes }: ExchangeText): string {
  return `Only the first ${formatBytes(text.length)} of ${formatBytes(bytes)} are stored.`;
}
