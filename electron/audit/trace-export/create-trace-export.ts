import { setTimeout as delay } from 'node:timers/promises';
import { addressRemedy, isLoopback, originOf } from '../../../shared/address-safety.ts';
import { AppError } from '../../../shared/app-error.ts';
import type { TraceExportState } from '../../../shared/contract/trace-export.ts';
import type { KeyStore } from '../../key-store/key-store.ts';
import { createConfirmedOrigins } from '../../providers/confirmed-origins.ts';
import type { RunStore, SettingsStore } from '../../storage/storage.ts';
import { sampleCallerName } from '../samples/sample-callers.ts';
import { attributesOf, type EndedRun, spanOf } from './run-span.ts';
import { type Delivery, sendSpans, TemporaryFailure } from './send-spans.ts';

/** Sends ended runs to a collector of OpenTelemetry. Off until the settings name one. */
export interface TraceExport {
  state(): TraceExportState;
  /** Where runs would be sent; null for nowhere. */
  collector(): { readonly address: string; readonly isConfirmed: boolean } | null;
  /** The user entered the address, so runs may be sent there. */
  confirmEnteredAddress(address: string): void;
  /** Throws `conflict` if the origin is no longer `origin`, which is the one that the user saw. */
  confirm(origin: string): void;
  /** Sends what waits, without retries, for at most two seconds. */
  close(): Promise<void>;
}

export interface TraceExportOptions {
  readonly settings: Pick<SettingsStore, 'read'>;
  readonly runs: Pick<RunStore, 'onEnd'>;
  /** Writes runs that have ended, after which they arrive here. */
  readonly flush: () => void;
  /** Has the origin that was confirmed. */
  readonly keyStore: KeyStore;
  /** `OTEL_EXPORTER_OTLP_HEADERS` can have the collector's key, and `OTEL_EXPORTER_OTLP_ENDPOINT` is a confirmed address. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** Milliseconds until the first retry; each further one waits twice as long. */
  readonly retryMilliseconds?: number;
  /** Milliseconds in which runs gather before they are sent together. */
  readonly gatherMilliseconds?: number;
  /** Milliseconds that a collector may take while the host closes. */
  readonly closingMilliseconds?: number;
}

/** More runs are dropped. A collector that is down must not fill the memory. */
const maxWaitingRuns = 2048;
const maxWaitingCharacters = 32 * 1_048_576;
/** Of one request. Collectors reject requests of a few megabytes. */
const maxBatchRuns = 256;
const maxBatchCharacters = 524_288;
const maxAttempts = 5;

function charactersOf({ metadata, whole }: WaitingSpan): number {
  return metadata.length + (whole?.length ?? 0);
}

function waitingSpanOf(run: EndedRun, hasContent: boolean): WaitingSpan {
  const textOf = (isWhole: boolean) => JSON.stringify(spanOf(run, isWhole));
  return { metadata: textOf(false), whole: hasContent ? textOf(true) : null };
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

/** The span of a run as JSON. */
interface WaitingSpan {
  readonly metadata: string;
  /** With its texts; null if the settings said that none are sent. */
  readonly whole: string | null;
}

/** The spans that wait, within limits. Runs would keep their conversations in memory. */
class WaitingSpans {
  #spans: WaitingSpan[] = [];
  #characters = 0;

  get count(): number {
    return this.#spans.length;
  }

  /** Returns whether there was room. */
  add(span: WaitingSpan): boolean {
    const characters = charactersOf(span);
    if (this.#spans.length >= maxWaitingRuns || this.#characters + characters > maxWaitingCharacters) return false;
    this.#spans.push(span);
    this.#characters += characters;
    return true;
  }

  /** Returns how many there were. */
  clear(): number {
    const { count } = this;
    this.#spans = [];
    this.#characters = 0;
    return count;
  }

  takeBatch(): WaitingSpan[] {
    let [count, characters] = [0, 0];
    while (count < Math.min(this.#spans.length, maxBatchRuns) && (count === 0 || characters < maxBatchCharacters)) {
      characters += charactersOf(this.#spans[count]!);
      count += 1;
    }
    const batch = this.#spans.splice(0, count);
    this.#characters -= characters;
    return batch;
  }
}

const account = 'collector';

function unconfirmedCollector(origin: string): string {
  return `Nothing is sent to ${origin}, because it hasn't been confirmed on this device. ${addressRemedy} Settings, Data and backup.`;
}

/** A database can be restored or come from someone else, so its address alone doesn't decide where runs and the collector's key go. */
function createConfirmedCollector({ keyStore, environment, settings }: TraceExportOptions) {
  const origins = createConfirmedOrigins(keyStore);
  const entered = [environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'], environment['OTEL_EXPORTER_OTLP_ENDPOINT']];
  const trusted = new Set(entered.flatMap((address) => (address ? [originOf(address)] : [])));
  // Read once, because each batch needs it.
  let confirmed: string | null = null;

  function isConfirmed(origin: string): boolean {
    if (isLoopback(origin) || trusted.has(origin) || origin === confirmed) return true;
    try {
      confirmed = origins.ofKey(account, null);
    } catch {
      // A locked keychain confirms nothing.
      return false;
    }
    return origin === confirmed;
  }

  function collector(): ReturnType<TraceExport['collector']> {
    const { address } = settings.read().traceExport;
    return address === null ? null : { address, isConfirmed: isConfirmed(originOf(address)) };
  }

  return {
    isConfirmed,
    collector,
    confirmation(): TraceExportState['confirmation'] {
      const present = collector();
      if (!present || present.isConfirmed) return null;
      return { origin: originOf(present.address), keyOrigin: null, keySource: null };
    },
    confirm(origin: string): void {
      if (isConfirmed(origin)) return;
      origins.setOfKey(account, null, origin);
      confirmed = origin;
    },
  };
}

function createSender(
  { settings, environment, version }: TraceExportOptions,
  isConfirmed: (origin: string) => boolean,
  signal: AbortSignal,
) {
  const headers = { ...headersIn(environment['OTEL_EXPORTER_OTLP_HEADERS']), 'content-type': 'application/json' };
  const resource = { attributes: attributesOf({ 'service.name': 'touchstone', 'service.version': version }) };
  const start = JSON.stringify({ resource, scopeSpans: [{ scope: { name: 'touchstone', version }, spans: [] }] });

  return async function send(batch: readonly WaitingSpan[]): Promise<Delivery> {
    const count = batch.length;
    const { address, hasContent } = settings.read().traceExport;
    // It was turned off meanwhile.
    if (address === null) return { rejected: count, failure: null };
    const origin = originOf(address);
    if (!isConfirmed(origin)) return { rejected: count, failure: unconfirmedCollector(origin) };
    const spans = batch.map(({ metadata, whole }) => (hasContent && whole) || metadata).join();
    const body = `{"resourceSpans":[${start.slice(0, -']}]}'.length)}${spans}]}]}]}`;
    return sendSpans({ address, headers, body, count, signal });
  };
}

export function createTraceExport(options: TraceExportOptions): TraceExport {
  const { settings, runs, retryMilliseconds = 1000, gatherMilliseconds = 1000, closingMilliseconds = 2000 } = options;
  const waiting = new WaitingSpans();
  const [closing, givingUp] = [new AbortController(), new AbortController()];
  const confirmed = createConfirmedCollector(options);
  const send = createSender(options, confirmed.isConfirmed, givingUp.signal);
  let [sent, dropped, active] = [0, 0, 0];
  let failure: string | null = null;
  let sending: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  async function attempt(batch: readonly WaitingSpan[]): Promise<Delivery> {
    for (let count = 1; ; count += 1) {
      try {
        return await send(batch);
      } catch (error) {
        if (!(error instanceof TemporaryFailure)) throw error;
        failure = error.message;
        if (count === maxAttempts || closing.signal.aborted) return { rejected: batch.length, failure };
        const pause = Math.max(retryMilliseconds * 2 ** (count - 1), error.pauseMilliseconds);
        await delay(pause, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      }
    }
  }

  async function sendAll(): Promise<void> {
    while (waiting.count > 0) {
      const batch = waiting.takeBatch();
      active = batch.length;
      const delivery = await attempt(batch);
      [active, failure] = [0, delivery.failure];
      sent += batch.length - delivery.rejected;
      dropped += delivery.rejected;
      if (failure !== null && closing.signal.aborted) dropped += waiting.clear();
    }
  }

  function flush(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    return (sending ??= sendAll().finally(() => (sending = null)));
  }

  const stopListening = runs.onEnd((ended) => {
    const { address, hasContent } = settings.read().traceExport;
    if (address === null) return void waiting.clear();
    // Samples are fictional: their runs and costs are no one's.
    for (const recorded of ended.filter(({ run }) => sampleCallerName(run.callerId) === null))
      if (!waiting.add(waitingSpanOf(recorded, hasContent))) dropped += 1;
    timer ??= setTimeout(() => void flush(), gatherMilliseconds).unref();
  });

  return {
    state() {
      const confirmation = confirmed.confirmation();
      const shown = confirmation ? unconfirmedCollector(confirmation.origin) : failure;
      return { sent, waiting: waiting.count + active, dropped, failure: shown, confirmation };
    },
    collector: confirmed.collector,
    confirmEnteredAddress: (address) => confirmed.confirm(originOf(address)),
    confirm(origin) {
      if (originOf(settings.read().traceExport.address ?? '') !== origin) {
        throw new AppError('conflict', 'The address has changed. Check it and try again.');
      }
      confirmed.confirm(origin);
      failure = null;
    },
    async close() {
      options.flush();
      stopListening();
      closing.abort();
      const limit = setTimeout(() => givingUp.abort(), closingMilliseconds);
      await flush();
      clearTimeout(limit);
    },
  };
}
