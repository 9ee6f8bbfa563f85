import { retrySeconds } from '../../providers/provider-error.ts';
import { isRecord } from '../import/log-call.ts';

/** A failure that another attempt can change. */
export class TemporaryFailure extends Error {
  /** How long the collector wants to be left alone. */
  readonly pauseMilliseconds: number;

  constructor(message: string, pauseMilliseconds = 0) {
    super(message);
    this.pauseMilliseconds = pauseMilliseconds;
  }
}

/** What became of a request that reached the collector. */
export interface Delivery {
  /** Spans that it didn't take. */
  readonly rejected: number;
  /** Why, for a person; null for a success. */
  readonly failure: string | null;
}

interface SpanRequest {
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Spans in the body. */
  readonly count: number;
  /** Gives up. */
  readonly signal: AbortSignal;
}

const requestMilliseconds = 10_000;
const maxPauseMilliseconds = 60_000;
/** Of a response. The rest isn't read. */
const maxResponseBytes = 65_536;
const maxMessageCharacters = 300;

/** The statuses that the specification of OTLP lets a client retry. */
const temporaryStatuses = new Set([429, 502, 503, 504]);

/** The reason of a failed request for a person, never with its content. */
function describe(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'The collector took longer than 10 s.';
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = isRecord(cause) && typeof cause['code'] === 'string' ? cause['code'] : null;
  return code === null ? "Couldn't reach the collector." : `Couldn't reach the collector (${code}).`;
}

/** The start of a body. What the collector has accepted stays accepted if the body never ends. */
async function startOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxResponseBytes) break;
    }
  } catch {
    return '';
  }
  return Buffer.concat(chunks).toString('utf8', 0, maxResponseBytes);
}

function partialSuccessIn(text: string): { rejected: number; message: string } {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: Record<string, unknown> };
    const { rejectedSpans, errorMessage } = partialSuccess ?? {};
    const message = typeof errorMessage === 'string' ? errorMessage.slice(0, maxMessageCharacters) : '';
    return { rejected: Math.max(0, Math.trunc(Number(rejectedSpans)) || 0), message };
  } catch {
    return { rejected: 0, message: '' };
  }
}

async function accepted(response: Response, count: number): Promise<Delivery> {
  const text = await startOf(response);
  if (response.headers.get('content-type')?.includes('text/html')) {
    const failure = 'A web page responded instead of a collector. Check the path of the address, such as /v1/traces.';
    return { rejected: count, failure };
  }
  const { rejected, message } = partialSuccessIn(text);
  if (rejected === 0) return { rejected, failure: null };
  const some = Math.min(rejected, count);
  const failure = `The collector rejected ${some} of ${count} runs${message === '' ? '.' : `: ${message}`}`;
  return { rejected: some, failure };
}

/** Sends spans once. Throws `TemporaryFailure` if another attempt makes sense. */
export async function sendSpans({ address, headers, body, count, signal }: SpanRequest): Promise<Delivery> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(requestMilliseconds)]);
  // A redirect could carry the content to another host.
  const options = { method: 'POST', headers, body, redirect: 'manual', signal: limit } as const;
  const response = await fetch(address, options).catch((error: unknown) => {
    throw new TemporaryFailure(describe(error));
  });
  if (response.ok) return accepted(response, count);
  await response.body?.cancel();
  const failure = `The collector responded with ${response.status}.`;
  if (!temporaryStatuses.has(response.status)) return { rejected: count, failure };
  const wait = retrySeconds(Object.fromEntries(response.headers), undefined) ?? 0;
  throw new TemporaryFailure(failure, Math.min(wait * 1000, maxPauseMilliseconds));
}
