import { APICallError, TypeValidationError, UnsupportedFunctionalityError } from '@ai-sdk/provider';
import { AppError, type AppErrorOptions, type ErrorCode } from '../../shared/app-error.ts';
import { keyedProviders } from '../../shared/contract/common.ts';
import { providerName } from '../../shared/provider-names.ts';
import { ResponseTooLarge } from './response-receiver.ts';
import { ProviderSilence } from './provider-fetch.ts';

/** The page where users set keys and addresses. */
export const settingsPage = 'Settings, Providers and keys';

/** The provider that a failure is about. */
export interface ProviderIdentity {
  /** The name that users see, such as `OpenAI`, or an endpoint's name. */
  readonly title: string;
  readonly baseAddress: string;
  /** Removed from every message. */
  readonly key: string | null;
}

/** The outcome that a test of a key or an address reports. */
export type FailureKind = 'refused' | 'unreachable' | 'silent' | 'failed';

/** An `AppError` with the provider's status. */
export class ProviderFailure extends AppError {
  readonly kind: FailureKind;
  /** HTTP status of the provider's response; null if there was none. */
  readonly providerStatus: number | null;

  constructor(
    code: ErrorCode,
    message: string,
    options: { kind?: FailureKind; providerStatus?: number | null } & AppErrorOptions = {},
  ) {
    super(code, message, options);
    this.kind = options.kind ?? 'failed';
    this.providerStatus = options.providerStatus ?? null;
  }
}

/** Used when a rate-limit response doesn't say when to retry. */
export const defaultRetrySeconds = 10;
const maxMessageCharacters = 600;
/** The rest of a provider's message isn't read. */
const maxReadCharacters = 65_536;

const unreachableCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** undici's message for a proxy that opens no tunnel. */
const proxyErrorPattern = /^Proxy response \((\d+)\)/;
const disconnectCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']);

/** The error and everything that caused it, outermost first; an `AggregateError` is followed into its first error. */
function* causes(error: unknown): Generator<object> {
  const seen = new Set<unknown>();
  let current = error;
  while (typeof current === 'object' && current !== null && !seen.has(current)) {
    seen.add(current);
    yield current;
    const { cause, errors } = current as { cause?: unknown; errors?: unknown };
    current = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
}

function codeOf(error: object): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Lines of stack traces as Node, Java, .NET, Python, Ruby, Go and PHP write them. */
const stackLines = [
  /^\s*at\s/,
  /^\s*File "[^"]*", line \d+/,
  /^\s*Traceback \(most recent call last\)/,
  /^\s*from \S+:\d+:in /,
  /^\s*goroutine \d+ \[/,
  /^\s*#\d+ +\S+\(\d+\)/,
  /^\s*\.\.\. \d+ more$/,
  /^\s+\/\S+:\d+/,
];

/** Removes stack traces, which name paths of the provider's machine and don't help the user. Python indents code below each line. */
function withoutStack(message: string): string {
  let isCode = false;
  const lines = message.split(/\r\n?|\n/).filter((line) => {
    const isStack = stackLines.some((pattern) => pattern.test(line));
    const isDropped = isStack || (isCode && /^\s/.test(line));
    isCode = /^\s*File "/.test(line) || (isCode && isDropped);
    return !isDropped;
  });
  return lines.join('\n');
}

/** Makes a provider's text fit to show: one line of a few sentences, without keys and stack traces. */
export function cleanMessage(message: string, key: string | null): string {
  let text = withoutStack(message.slice(0, maxReadCharacters));
  if (key) text = text.replaceAll(key, '[key]').replaceAll(encodeURIComponent(key), '[key]');
  text = text
    .replace(/\b(Bearer\s+)\S+/gi, '$1[key]')
    .replace(/\b(?:sk|gsk|xai)[-_][\w*.-]{8,}|\bAIza[\w*-]{8,}/g, '[key]')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return text.length > maxMessageCharacters ? `${text.slice(0, maxMessageCharacters)}…` : text;
}

const providerTitles = new Set<string>(keyedProviders.map(providerName));

function isProvider({ title }: ProviderIdentity): boolean {
  return providerTitles.has(title);
}

/** A provider's name, or an endpoint's name in quotes. */
function nameOf(about: ProviderIdentity): string {
  return isProvider(about) ? about.title : `"${about.title}"`;
}

function hostOf(baseAddress: string): string {
  return URL.canParse(baseAddress) ? new URL(baseAddress).host : 'its address';
}

/** Seconds from `retry-after` (seconds or an HTTP date), `retry-after-ms`, or the delay that Gemini names in its body. */
export function retrySeconds(
  headers: Record<string, string> | undefined,
  body: string | undefined,
): number | undefined {
  const milliseconds = Number(headers?.['retry-after-ms'] || Number.NaN);
  if (milliseconds >= 0) return Math.ceil(milliseconds / 1000);
  const header = headers?.['retry-after']?.trim();
  if (header) {
    const seconds = /^\d+(\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
    if (Number.isFinite(seconds)) return Math.max(0, Math.ceil(seconds));
  }
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body ?? '')?.[1];
  return delay === undefined ? undefined : Math.ceil(Number(delay));
}

/** The message in an error body of any of the usual formats. */
function messageInBody(body: string | undefined): string | null {
  if (!body) return null;
  try {
    const parsed = JSON.parse(body) as unknown;
    const value = (Array.isArray(parsed) ? parsed[0] : parsed) as Record<string, unknown> | null;
    for (const candidate of [
      (value?.['error'] as Record<string, unknown>)?.['message'],
      value?.['error'],
      value?.['message'],
      value?.['detail'],
    ]) {
      if (typeof candidate === 'string' && candidate.trim() !== '') return candidate;
    }
  } catch {
    // An HTML page or an empty body: the status is enough.
  }
  return null;
}

interface HttpFailure {
  readonly status: number;
  readonly headers?: Record<string, string> | undefined;
  readonly body?: string | undefined;
  readonly message?: string | undefined;
  readonly cause?: unknown;
}

/** The error for a status of the provider. */
export function failureFromStatus(failure: HttpFailure, about: ProviderIdentity): ProviderFailure {
  const { status, headers, body, cause } = failure;
  const text = messageInBody(body) ?? (failure.message?.trim() || null);
  const providerMessage = text === null ? '' : ` Provider message: ${cleanMessage(text, about.key)}`;
  const name = nameOf(about);
  const options = { providerStatus: status, cause };
  // Gemini responds to a wrong key with 400.
  if (status === 401 || status === 403 || (status === 400 && body?.includes('API_KEY_INVALID'))) {
    const remedy = about.key === null ? 'Add an API key' : 'Check the API key';
    const page = isProvider(about) ? settingsPage : 'Settings, Compatible endpoints';
    const message = `${name} rejected the request (${status}). ${remedy} in ${page}.`;
    return new ProviderFailure('provider_key_refused', message, { ...options, kind: 'refused' });
  }
  if (status === 429) {
    const retryAfterSeconds = retrySeconds(headers, body) ?? defaultRetrySeconds;
    const message = `Rate limit or quota of ${name} reached. Retry in ${retryAfterSeconds} s.${providerMessage}`;
    return new ProviderFailure('rate_limited', message, { ...options, retryAfterSeconds });
  }
  if (status === 503 || status === 529) {
    const retryAfterSeconds = retrySeconds(headers, body);
    const message = `${name} is overloaded (${status}). Retry in a moment or choose another model.${providerMessage}`;
    return new ProviderFailure('provider_overloaded', message, {
      ...options,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
  }
  if (status === 400) {
    return new ProviderFailure('invalid_request', `${name} rejected the request (400).${providerMessage}`, options);
  }
  if ([404, 413, 422].includes(status)) {
    const unexplained = status === 404 ? ` Check the model's name, and the base address in ${settingsPage}.` : '';
    const message = `${name} rejected the request (${status}).${providerMessage || unexplained}`;
    return new ProviderFailure('provider_failed', message, options);
  }
  const redirect =
    status >= 300 && status < 400
      ? ` The server redirects to another address. Check the base address in ${settingsPage}.`
      : '';
  return new ProviderFailure(
    'provider_failed',
    `Server error from ${name} (${status}).${redirect}${providerMessage}`,
    options,
  );
}

function failureFromSilence(silence: ProviderSilence, about: ProviderIdentity): ProviderFailure {
  const { seconds, hasResponseStarted } = silence;
  const message = hasResponseStarted
    ? `${nameOf(about)} stopped responding in the middle of its answer. It sent nothing for ${seconds} s.`
    : `${nameOf(about)} stopped responding. It sent nothing for ${seconds} s. Retry, or raise the time limit in Settings.`;
  return new ProviderFailure('provider_silent', message, { kind: 'silent', cause: silence });
}

function failureFromSize(failure: ResponseTooLarge, about: ProviderIdentity): ProviderFailure {
  const size = `${Math.round(failure.maxBytes / 1_048_576)} MB`;
  const message = `${nameOf(about)} sent more than ${size}, so Touchstone stopped reading. Check the base address in ${settingsPage}.`;
  return new ProviderFailure('provider_failed', message, { cause: failure });
}

function failureFromProxy(chain: readonly object[], about: ProviderIdentity): ProviderFailure | null {
  for (const link of chain) {
    const status = link instanceof Error ? proxyErrorPattern.exec(link.message)?.[1] : undefined;
    if (status === undefined) continue;
    const remedy =
      status === '407'
        ? 'The proxy requires a user name and a password in its address.'
        : 'The proxy may allow only some addresses.';
    const message = `The proxy in HTTPS_PROXY blocks calls to ${nameOf(about)} (${status}). ${remedy}`;
    return new ProviderFailure('provider_failed', message, { kind: 'unreachable', cause: link });
  }
  return null;
}

/** The message of an error event in a stream. Each provider has its own format. */
function messageInEvent(error: unknown): string | null {
  if (typeof error === 'string') return error;
  if (typeof error !== 'object' || error === null || error instanceof Error) return null;
  const { message, error: nested } = error as { message?: unknown; error?: unknown };
  return typeof message === 'string' ? message : messageInEvent(nested);
}

/** The message of a response that isn't a completion: some gateways report failures with status 200. */
function messageInAnswer(chain: readonly object[]): string | null {
  for (const link of chain) {
    const message = TypeValidationError.isInstance(link) ? messageInEvent(link.value) : null;
    if (message !== null) return message;
  }
  return null;
}

/**
 * Turns any error of a call into the error that callers get. After an abort that is always an `AbortError`, even if the socket failed
 * in another way.
 */
export function toProviderError(error: unknown, about: ProviderIdentity, signal: AbortSignal): Error {
  if (signal.aborted) return new DOMException('The call was aborted.', 'AbortError');
  const chain = [...causes(error)];
  for (const link of chain) {
    if (link instanceof AppError) return link;
    if (link instanceof ProviderSilence) return failureFromSilence(link, about);
    if (link instanceof ResponseTooLarge) return failureFromSize(link, about);
  }
  const call = chain.find((link) => APICallError.isInstance(link));
  if (call?.statusCode !== undefined && (call.statusCode < 200 || call.statusCode >= 300)) {
    const { statusCode: status, responseHeaders: headers, responseBody: body, message } = call;
    return failureFromStatus({ status, headers, body, message, cause: error }, about);
  }
  const unsupported = chain.find((link) => UnsupportedFunctionalityError.isInstance(link));
  if (unsupported) {
    return new ProviderFailure('invalid_request', cleanMessage(unsupported.message, about.key), { cause: error });
  }
  const proxyFailure = failureFromProxy(chain, about);
  if (proxyFailure) return proxyFailure;
  const codes = chain.map(codeOf);
  if (codes.some((code) => unreachableCodes.has(code))) {
    const message = `Couldn't reach ${nameOf(about)} at ${hostOf(about.baseAddress)}. Check the network and the base address in ${settingsPage}.`;
    return new ProviderFailure('provider_failed', message, { kind: 'unreachable', cause: error });
  }
  if (codes.some((code) => /CERT|_TLS_|SSL|EPROTO/.test(code))) {
    const message = `No secure connection to ${nameOf(about)} at ${hostOf(about.baseAddress)}. This device doesn't trust its certificate. Check the base address in ${settingsPage}.`;
    return new ProviderFailure('provider_failed', message, { kind: 'unreachable', cause: error });
  }
  if (codes.includes('UND_ERR_HEADERS_OVERFLOW')) {
    const message = `${nameOf(about)} sent a response with headers of more than 64 KB. Check the base address in ${settingsPage}.`;
    return new ProviderFailure('provider_failed', message, { cause: error });
  }
  if (codes.some((code) => disconnectCodes.has(code))) {
    const message = `${nameOf(about)} closed the connection before its answer was complete. Try again.`;
    return new ProviderFailure('provider_failed', message, { cause: error });
  }
  const event = messageInEvent(error) ?? messageInAnswer(chain);
  const message =
    event === null
      ? `${nameOf(about)} sent a response that Touchstone can't read. Try again, or check the base address in ${settingsPage}.`
      : `Error from ${nameOf(about)} during its answer. Provider message: ${cleanMessage(event, about.key)}`;
  return new ProviderFailure('provider_failed', message, { cause: error });
}

/** The error for an answer that ended without a finish reason. */
export function incompleteAnswer(about: ProviderIdentity): ProviderFailure {
  return new ProviderFailure('provider_failed', `${nameOf(about)} ended its answer before it was complete. Try again.`);
}
