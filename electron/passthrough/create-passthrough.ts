import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RecordLevel } from '../../shared/contract/common.ts';
import { ActiveSet } from '../common/active-values.ts';
import type { Message } from '../../shared/contract/messages.ts';
import type { Guard } from '../completions/guard.ts';
import type { Credits } from '../credits/credits.ts';
import type { RateLimits } from '../credits/rate-limits.ts';
import type { Files } from '../files/create-files.ts';
import type { Log } from '../log.ts';
import type { ProviderExchanges } from '../provider-exchanges/create-provider-exchanges.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { ProviderPauses } from '../providers/provider-pauses.ts';
import { describeDiskFailure } from '../storage/disk-failure.ts';
import type { RunOutcome } from '../storage/run-rows.ts';
import type { ApiKeyStore, Storage } from '../storage/storage.ts';
import { beginRun, modelOf, noteAnswer, type ProgramCall, type Recording, requestKey, systemOf } from './begin-run.ts';
import { type Charge, type ChargeKey, createKeyCharges, reserve } from './charge-call.ts';
import { type CallMeter, createMeter, type RecorderCounts } from './call-meter.ts';
import { CallRecord, type CallUse, UnrecordedCall } from './call-record.ts';
import { type CallReader, createCallReader } from './create-call-reader.ts';
import { PassedCall } from './passed-call.ts';
import { plan, type PlannedCall } from './plan-call.ts';
import { answerKey, keysOf } from './read-call.ts';
import type { SentTexts } from './redact-run.ts';
import { createRunRecord, recordLevelOf, type RunRecord } from './run-recording.ts';
import { notePauses, SentCall } from './sent-call.ts';
import { type SentFile, storeFiles } from './sent-files.ts';

/** A call under way, with what the program learns about its record. */
export interface StartedCall {
  readonly call: PassedCall;
  /** Set if the guard has to judge the whole response first. Rejects with 400 for a blocked one. */
  readonly verdict: Promise<void> | null;
  readonly runId: string | null;
  readonly conversationId: string | null;
  readonly recorded: RecordLevel | 'failed';
}

export interface CallThread {
  /** Null for a new one. */
  readonly conversationId: string | null;
  /** Called when the conversation is known, so that the next call finds it. */
  note(conversationId: string): void;
  /** Called with the answer, which tells the conversation from others that began alike. */
  noteAnswer(conversationId: string, answer: Message): void;
}

export interface PassThrough {
  /**
   * Sends a call to its provider and records it beside its program. Throws `AppError` for no credits (402), a blocked prompt (400), a
   * missing key (503), and a call that must be recorded and can't be (500).
   */
  start(call: ProgramCall): Promise<StartedCall>;
  /** The call, if it names a model that Touchstone runs itself; null for a provider's own. Throws 413 for more than 4 MB. */
  ownCall: CallReader['ownCall'];
  /** How a call that Touchstone runs itself is recorded, by the same rules. Counts it. */
  recordRun(call: Pick<ProgramCall, 'api' | 'caller' | 'level'>, sent: SentTexts): Promise<RunRecord>;
  /** Counts a record. */
  noteRecord(): void;
  /** The conversation of a call that Touchstone runs itself, by the messages that it repeats. */
  thread(callerId: string, messages: readonly Message[]): CallThread;
  counts(): RecorderCounts;
  noteRejection: CallMeter['noteRejection'];
  /** Ends every call, which is recorded as cancelled, and as much of it as can be read in a second. */
  close(): Promise<void>;
}

export interface PassThroughOptions {
  readonly storage: Pick<Storage, 'threads' | 'runs' | 'settings' | 'flush'>;
  readonly providers: Pick<Providers, 'pass' | 'pricesOf'>;
  readonly pauses: Pick<ProviderPauses, 'noteResponse'>;
  readonly credits: Credits;
  readonly rateLimits: RateLimits;
  readonly apiKeys: Pick<ApiKeyStore, 'charge'>;
  readonly guard: Guard;
  readonly exchanges: Pick<ProviderExchanges, 'open'>;
  readonly files: Files;
  readonly log: Log;
}

/** How long the records of ended calls may take when the host closes. All of it has five seconds. */
const maxClosingMilliseconds = 1000;

/** What every call needs. */
interface Parts extends PassThroughOptions {
  readonly reader: CallReader;
  readonly meter: CallMeter;
  readonly chargeKey: ChargeKey;
  readonly active: ActiveSet<{ readonly passed: PassedCall; readonly controller: AbortController }>;
  /** Files that are being stored. */
  readonly storing: Set<Promise<void>>;
  /** Ends the storing of files. */
  readonly closing: AbortController;
}

/** The response doesn't wait for files: looking into an image can take longer than the model. */
function storeBeside(sent: readonly SentFile[], callerId: string, parts: Parts): void {
  const storing = storeFiles(sent, callerId, { ...parts, signal: parts.closing.signal });
  parts.storing.add(storing);
  void storing.finally(() => parts.storing.delete(storing));
}

/** Null if the call isn't recorded. Throws if it can't be and must be. */
function tryBegin({ call, request, level, failure }: PlannedCall, { storage, meter }: Parts): Recording | null {
  if (level === 'none') return null;
  try {
    if (failure !== null) throw failure;
    // The call may repeat or continue one whose response isn't read yet.
    storage.runs.requireRoom();
    const isRetry = call.isRetry || meter.takeFailed(requestKey(call, request));
    const recording = beginRun({ ...call, isRetry }, request, level, storage);
    meter.noteHidden(storage.settings.read().recorder.redaction, request.hidden);
    return recording;
  } catch (error) {
    meter.noteFailure(error);
    if (storage.settings.read().recorder.onFailure === 'pass') return null;
    throw describeDiskFailure(error) ?? error;
  }
}

interface RecordParts {
  readonly sent: SentCall;
  readonly charge: (use: CallUse) => void;
}

/** Whether the guard has to see the whole response before the program does. */
function isJudged({ runGuard }: PlannedCall, { storage }: Parts): boolean {
  return runGuard !== null && storage.settings.read().guard.answers === 'refuse';
}

/** Whether what a response used counts for the next call. */
const isLimited = ({ key }: ProgramCall['caller']): boolean =>
  key !== null && (key.creditLimit !== null || key.tokensPerMinute !== null);

/** Without a recording, it only reads the response for the guard. */
function createRecord(
  planned: PlannedCall,
  recording: Recording | null,
  { sent, charge }: RecordParts,
  parts: Parts,
): CallRecord {
  const { storage, providers, reader, meter } = parts;
  const { call, request, runGuard } = planned;
  const { recorder } = storage.settings.read();
  const level = recording?.level ?? 'metadata';
  if (level === 'all' && request.files.length > 0) storeBeside(request.files, call.caller.callerId, parts);
  const noteEnd = ({ status }: RunOutcome) => {
    if (status === 'Failed' && request.key !== '') meter.noteFailed(requestKey(call, request));
    meter.noteRecord();
  };
  return new CallRecord({
    runId: recording?.runId ?? '',
    sentAt: sent.sentAt,
    exchanges: sent.exchanges,
    signal: sent.controller.signal,
    charge,
    api: call.api!,
    level,
    rules: recorder.redaction,
    secrets: sent.secrets,
    reader,
    finish: async (outcome) => {
      if (recording === null) return;
      await storage.runs.finish(recording.runId, outcome);
      noteEnd(outcome);
    },
    finishUnread: (unread, read) =>
      recording !== null &&
      !isLimited(call.caller) &&
      storage.runs.finishUnread(recording.runId, unread, () => {
        const outcome = read();
        noteEnd(outcome);
        return outcome;
      }),
    guard: runGuard,
    isChecked: runGuard !== null && storage.settings.read().guard.answers !== 'off',
    isJudged: isJudged(planned, parts),
    prices: providers.pricesOf(systemOf(call.providerId), modelOf(call, request.model)),
    onResponse: (response) => {
      if (recording) noteAnswer(planned, recording, response, storage);
    },
    onHidden: (hidden) => meter.noteHidden(recorder.redaction, hidden),
    onFailure: meter.noteFailure,
    mustRecord: recorder.onFailure === 'block',
  });
}

/**
 * The call, sent before its request is read: a long one takes tens of milliseconds. Null if the request must be checked or recorded
 * first.
 */
function sendFirst(call: ProgramCall, parts: Parts): SentCall | null {
  const { recorder, guard } = parts.storage.settings.read();
  if (guard.prompts !== 'off' || guard.answers !== 'off' || recorder.onFailure === 'block') return null;
  return send(call, call.api === null ? 'none' : recordLevelOf(call, recorder), parts);
}

function send(call: ProgramCall, level: RecordLevel, parts: Parts): SentCall {
  const isStoredRaw = level === 'all' && parts.storage.settings.read().recorder.redaction.length === 0;
  return new SentCall(call, isStoredRaw ? parts.exchanges.open() : null, parts);
}

/** Connects a call with its record, and sends it if it isn't sent. Throws what keeps it from being sent, which is recorded. */
function follow(
  planned: PlannedCall,
  recording: Recording | null,
  { first, charge }: { readonly first: SentCall | null; readonly charge: Charge },
  parts: Parts,
): StartedCall {
  const { call, level } = planned;
  const sent = first ?? send(call, recording?.level ?? 'none', parts);
  const isRecorded = recording !== null;
  const own = { sent, charge: (use: CallUse) => charge(use, isRecorded) };
  const record = isRecorded || isJudged(planned, parts) ? createRecord(planned, recording, own, parts) : null;
  const observer = record ?? new UnrecordedCall((use) => charge(use, false));
  const passed = new PassedCall(call.api, observer, record?.isJudged ?? false);
  const forget = parts.active.add({ passed, controller: sent.controller });
  passed.whole.then(forget, forget);
  notePauses(call, passed, parts);
  sent.deliverTo(passed);
  if (sent.failure) throw sent.failure;
  return {
    call: passed,
    verdict: record?.isJudged ? record.verdict : null,
    runId: recording?.runId ?? null,
    conversationId: recording?.conversationId ?? null,
    recorded: recording?.level ?? (level === 'none' ? 'none' : 'failed'),
  };
}

async function startCall(call: ProgramCall, parts: Parts): Promise<StartedCall> {
  parts.meter.noteCall();
  const charge: Charge = call.api === null ? () => undefined : await reserve(call, parts);
  let first: SentCall | null = null;
  let recording: Recording | null = null;
  try {
    first = sendFirst(call, parts);
    // undici looks for one turn whether a kept connection is still open, and only then writes the request, which mustn't wait for the steps below.
    if (first !== null) await nextTurn();
    first?.exchanges?.readRequests();
    const planned = await plan(call, parts);
    recording = tryBegin(planned, parts);
    return follow(planned, recording, { first, charge }, parts);
  } catch (error) {
    first?.controller.abort(error);
    // The record of a run that has begun charges it.
    if (recording === null) charge({ credits: 0, usage: null }, true);
    throw error;
  }
}

export function createPassThrough(options: PassThroughOptions): PassThrough {
  const parts: Parts = {
    ...options,
    reader: createCallReader(),
    meter: createMeter(options.log),
    chargeKey: createKeyCharges(options),
    active: new ActiveSet(),
    storing: new Set(),
    closing: new AbortController(),
  };
  return {
    start: (call) => startCall(call, parts),
    ownCall: parts.reader.ownCall,
    noteRecord: parts.meter.noteRecord,
    recordRun(call, sent) {
      const { recorder } = options.storage.settings.read();
      parts.meter.noteCall();
      return createRunRecord(recordLevelOf(call, recorder), sent, { ...parts, recorder });
    },
    thread(callerId, messages) {
      const scope = `${callerId} translated`;
      const { earlierKeys, key } = keysOf(scope, messages);
      const { threads } = options.storage;
      return {
        conversationId: threads.find(earlierKeys.map((earlier) => `${scope} ${earlier}`)),
        note: (conversationId) => threads.note(`${scope} request:${key}`, conversationId),
        noteAnswer: (conversationId, answer) => threads.note(`${scope} ${answerKey(key, answer)}`, conversationId),
      };
    },
    counts: parts.meter.counts,
    noteRejection: parts.meter.noteRejection,
    async close() {
      const present = [...parts.active];
      const ending = present.map(({ passed }) => passed.whole.catch(() => undefined));
      const reason = new DOMException('The host is closing.', 'AbortError');
      for (const { controller } of present) controller.abort(reason);
      const stopReading = () => {
        parts.closing.abort(reason);
        return parts.reader.close();
      };
      const timer = setTimeout(() => void stopReading(), maxClosingMilliseconds);
      await Promise.all([...ending, ...parts.storing]);
      clearTimeout(timer);
      // Responses that programs have already may not be read yet.
      options.storage.flush();
      await stopReading();
    },
  };
}
