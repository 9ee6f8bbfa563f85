import type { ExchangeLog } from '../provider-exchanges/exchange-log.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { ProviderPauses } from '../providers/provider-pauses.ts';
import type { RawHeaders, ResponseFlow, ResponseHeaders, ResponseReceiver } from '../providers/response-receiver.ts';
import { modelOf, type ProgramCall, systemOf } from './begin-run.ts';
import type { PassedCall } from './passed-call.ts';

export interface SentCallParts {
  readonly providers: Pick<Providers, 'pass'>;
  readonly pauses: Pick<ProviderPauses, 'noteResponse'>;
}

/** A call that is sent to its provider. What arrives waits until `deliverTo` has said for whom it is. */
export class SentCall implements ResponseReceiver {
  /** By the clock of `performance`. */
  readonly sentAt = performance.now();
  readonly controller = new AbortController();
  /** Null if the exchange isn't stored. */
  readonly exchanges: ExchangeLog | null;
  /** Why the call can't be sent, such as a missing key; null if it is under way. */
  readonly failure: Error | null;
  /** The keys that the call took along, in each form in which the provider may repeat them. */
  readonly secrets: readonly string[] = [];
  #receiver: PassedCall | null = null;
  #waiting: ((receiver: PassedCall) => void)[] = [];

  /** Sends the call. It ends with its program, and with `controller`. */
  constructor(call: ProgramCall, exchanges: ExchangeLog | null, { providers }: SentCallParts) {
    this.exchanges = exchanges;
    const { controller } = this;
    const { signal: program, providerId, path, apiVersion, method, headers, body, hasOwnKey } = call;
    if (program.aborted) controller.abort(program.reason);
    else program.addEventListener('abort', () => controller.abort(program.reason), { once: true });
    const { signal } = controller;
    try {
      const forwarded = { providerId, path, apiVersion, method, headers, body, hasOwnKey, signal, exchanges };
      this.secrets = providers.pass(forwarded, this);
      this.failure = null;
    } catch (error) {
      this.failure = error as Error;
    }
  }

  begin(status: number, statusText: string, headers: ResponseHeaders, flow: ResponseFlow, raw: RawHeaders): void {
    this.#deliver((receiver) => receiver.begin(status, statusText, headers, flow, raw));
  }

  take(chunk: Uint8Array): boolean {
    if (this.#receiver !== null) return this.#receiver.take(chunk);
    this.#waiting.push((receiver) => receiver.take(chunk));
    return false;
  }

  end(): void {
    this.#deliver((receiver) => receiver.end());
  }

  fail(reason: Error): void {
    this.#deliver((receiver) => receiver.fail(reason));
  }

  deliverTo(receiver: PassedCall): void {
    this.#receiver = receiver;
    for (const deliver of this.#waiting.splice(0)) deliver(receiver);
    if (this.failure) receiver.fail(this.failure);
  }

  #deliver(deliver: (receiver: PassedCall) => void): void {
    if (this.#receiver === null) this.#waiting.push(deliver);
    else deliver(this.#receiver);
  }
}

/** Comparisons wait as a provider asks. The limits of a program's own key aren't theirs. */
export function notePauses(call: ProgramCall, { head }: PassedCall, { pauses }: SentCallParts): void {
  if (call.hasOwnKey) return;
  const servedBy = `${systemOf(call.providerId)}/${modelOf(call, '')}`;
  head.then(
    (response) => pauses.noteResponse(servedBy, response),
    () => {},
  );
}
