import { setTimeout as delay } from 'node:timers/promises';
import { isRecord } from '../import/log-call.ts';
import type { TraceExportState } from '../../../shared/contract/trace-export.ts';
import type { RunStore, SettingsStore } from '../../storage/storage.ts';
import { attributesOf, type EndedRun, spanOf } from './run-span.ts';

/** Sends ended runs to a collector of OpenTelemetry. Off until the settings name one. */
export interface TraceExport {
  state(): TraceExportState;
  /** Sends what waits, without retries. */
  close(): Promise<void>;
}

export interface TraceExportOptions {
  readonly settings: Pick<SettingsStore, 'read'>;
  readonly runs: Pick<RunStore, 'onEnd'>;
  /** `OTEL_EXPORTER_OTLP_HEADERS` can have the collector's key. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** Milliseconds until the first retry; each further one waits twice as long. */
  readonly retryMilliseconds?: number;
  /** Milliseconds in which runs gather before they are sent together. */
  readonly gatherMilliseconds?: number;
}

/** More runs are dropped. A collector that is down must not fill the memory. */
const maxWaitingRuns = 2048;
const maxWaitingCharacters = 32 * 1_048_576;
/** Of one request, which is written to JSON on the main thread. */
const maxBatchRuns = 256;
const maxBatchCharacters = 524_288;
const requestMilliseconds = 10_000;
const maxAttempts = 5;

function charactersOf({ run, outcome }: EndedRun): number {
  return run.renderedPrompt.length + outcome.content.length + 1000;
}

/** `name=value,name=value` with percent-encoded values, as the specification of OpenTelemetry has it. */
export function headersIn(text: string | undefined): Record<string, string> {
  const pairs = (text ?? '').split(',').flatMap((pair) => {
    const split = pair.indexOf('=');
    if (split <= 0) return [];
    try {
      return [[pair.slice(0, split).trim(), decodeURIComponent(pair.slice(split + 1).trim())] as const];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(pairs);
}

/** A response that another attempt can change. */
class TemporaryFailure extends Error {}

/** The reason of a failed request for a person, never with its content. */
function describe(error: unknown): string {
  if (error instanceof TemporaryFailure) return error.message;
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = isRecord(cause) && typeof cause['code'] === 'string' ? cause['code'] : null;
  if (error instanceof Error && error.name === 'TimeoutError') return 'The collector took longer than 10 s.';
  return code === null ? "Couldn't reach the collector." : `Couldn't reach the collector (${code}).`;
}

/** The runs that wait, within limits. */
class WaitingRuns {
  #runs: EndedRun[] = [];
  #characters = 0;

  get count(): number {
    return this.#runs.length;
  }

  /** Returns whether there was room. */
  add(run: EndedRun): boolean {
    const characters = charactersOf(run);
    if (this.#runs.length >= maxWaitingRuns || this.#characters + characters > maxWaitingCharacters) return false;
    this.#runs.push(run);
    this.#characters += characters;
    return true;
  }

  clear(): void {
    this.#runs = [];
    this.#characters = 0;
  }

  takeBatch(): EndedRun[] {
    let [count, characters] = [0, 0];
    while (count < Math.min(this.#runs.length, maxBatchRuns) && (count === 0 || characters < maxBatchCharacters)) {
      characters += charactersOf(this.#runs[count]!);
      count += 1;
    }
    const batch = this.#runs.splice(0, count);
    for (const run of batch) this.#characters -= charactersOf(run);
    return batch;
  }
}

function createSender({ settings, environment, version }: TraceExportOptions) {
  const headers = { ...headersIn(environment['OTEL_EXPORTER_OTLP_HEADERS']), 'content-type': 'application/json' };
  const resource = { attributes: attributesOf({ 'service.name': 'touchstone', 'service.version': version }) };

  /** Throws `TemporaryFailure` if another attempt makes sense. Returns the reason of a rejection; null for success. */
  return async function send(batch: readonly EndedRun[]): Promise<string | null> {
    const { address, hasContent } = settings.read().traceExport;
    // It was turned off meanwhile.
    if (address === null) return null;
    const spans = batch.map((run) => spanOf(run, hasContent));
    const scopeSpans = [{ scope: { name: 'touchstone', version }, spans }];
    const response = await fetch(address, {
      method: 'POST',
      headers,
      body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
      // A redirect could carry the content to another host.
      redirect: 'error',
      signal: AbortSignal.timeout(requestMilliseconds),
    });
    await response.body?.cancel();
    if (response.ok) return null;
    const message = `The collector responded with ${response.status}.`;
    if (response.status === 429 || response.status >= 500) throw new TemporaryFailure(message);
    return message;
  };
}

export function createTraceExport(options: TraceExportOptions): TraceExport {
  const { settings, runs, retryMilliseconds = 1000, gatherMilliseconds = 1000 } = options;
  const send = createSender(options);
  const waiting = new WaitingRuns();
  const closing = new AbortController();
  let [sent, dropped, active] = [0, 0, 0];
  let failure: string | null = null;
  let sending: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  function end(batch: readonly EndedRun[], reason: string | null): void {
    failure = reason;
    if (reason === null) sent += batch.length;
    else dropped += batch.length;
  }

  async function deliver(batch: readonly EndedRun[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return end(batch, await send(batch));
      } catch (error) {
        failure = describe(error);
        if (attempt === maxAttempts || closing.signal.aborted) return end(batch, failure);
        const pause = retryMilliseconds * 2 ** (attempt - 1);
        await delay(pause, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      }
    }
  }

  async function sendAll(): Promise<void> {
    while (waiting.count > 0) {
      const batch = waiting.takeBatch();
      active = batch.length;
      await deliver(batch);
      active = 0;
    }
  }

  function flush(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    return (sending ??= sendAll().finally(() => (sending = null)));
  }

  const stopListening = runs.onEnd((ended) => {
    if (settings.read().traceExport.address === null) return void waiting.clear();
    for (const run of ended) if (!waiting.add(run)) dropped += 1;
    timer ??= setTimeout(() => void flush(), gatherMilliseconds).unref();
  });

  return {
    state: () => ({ sent, waiting: waiting.count + active, dropped, failure }),
    async close() {
      stopListening();
      closing.abort();
      await flush();
    },
  };
}
