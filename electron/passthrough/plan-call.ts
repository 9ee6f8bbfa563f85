import type { RecordLevel } from '../../shared/contract/common.ts';
import type { Guard, RunGuard } from '../completions/guard.ts';
import type { Storage } from '../storage/storage.ts';
import { type ProgramCall, scopeOf } from './begin-run.ts';
import { checkPrompt, nothingToCheck } from './check-prompt.ts';
import type { CallReader } from './create-call-reader.ts';
import { inProgramFields } from './program-fields.ts';
import { type ReadRequest, unreadable } from './read-call.ts';
import { recordLevelOf } from './run-recording.ts';

export interface PlanParts {
  readonly storage: Pick<Storage, 'threads' | 'settings'>;
  readonly reader: CallReader;
  readonly guard: Guard;
}

/** A call whose request has been read and checked. */
export interface PlannedCall {
  readonly call: ProgramCall;
  readonly level: RecordLevel;
  /** As it is recorded. */
  readonly request: ReadRequest;
  /** Null if the guard is off. */
  readonly runGuard: RunGuard | null;
  /** Why the request couldn't be read for the record; null if it was. */
  readonly failure: Error | null;
}

/** Whether an earlier call had the messages up to the last answer, which the guard has checked then. */
function hasKnownAnswer(
  call: ProgramCall,
  { earlierKeys }: ReadRequest,
  { threads }: Pick<Storage, 'threads'>,
): boolean {
  const [answer, request] = earlierKeys;
  const keys = [answer, request].filter((key) => key !== undefined);
  return threads.find(keys.map((key) => `${scopeOf(call)} ${key}`)) !== null;
}

/** Reads the request as far as its record and the guard need it. Throws 400 for a blocked prompt. */
export async function plan(call: ProgramCall, { storage, reader, guard }: PlanParts): Promise<PlannedCall> {
  const { recorder, guard: guardSettings } = storage.settings.read();
  const { api, pathModel, encoding, signal, program } = call;
  const empty = { ...unreadable, program: call.program };
  const unread = { call, request: empty, runGuard: null, failure: null };
  if (api === null) return { ...unread, level: 'none' };
  const level = recordLevelOf(call, recorder);
  const isGuarded = guardSettings.prompts !== 'off' || guardSettings.answers !== 'off';
  if (level === 'none' && !isGuarded) return { ...unread, level };
  const input = { api, pathModel, body: call.body ?? new Uint8Array(), encoding, scope: scopeOf(call), program };
  const read = async () => reader.request({ ...input, rules: recorder.redaction });
  const stored = await read().catch((error: Error) => error);
  const failure = stored instanceof Error ? stored : null;
  const request = stored instanceof Error ? empty : stored;
  if (!isGuarded) return { ...unread, level, request, failure };
  // The guard checks what is sent, not what is recorded.
  const sent = guardSettings.prompts === 'off' ? nothingToCheck : await reader.checked({ ...input, rules: [] });
  // One that blocks checks the history, too, and says where it found something.
  const isKnown = guardSettings.prompts === 'refuse' || hasKnownAnswer(call, request, storage);
  const runGuard = await checkPrompt(sent, call.headers, guard, { signal, isKnown }).catch((error: unknown) => {
    throw inProgramFields(error, api);
  });
  return { call, level, request, failure, runGuard };
}
