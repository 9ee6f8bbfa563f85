import { lowerLevel, type RecordLevel } from '../../shared/contract/common.ts';
import type { Settings } from '../../shared/contract/settings.ts';
import type { RunRecording } from '../completions/completions.ts';
import type { RunOutcome } from '../storage/run-rows.ts';
import type { ProgramCall } from './begin-run.ts';
import type { CallMeter } from './call-meter.ts';
import type { CallReader } from './create-call-reader.ts';
import type { SentTexts } from './redact-run.ts';

/** An outcome of which only the metadata is recorded. */
function withoutTexts(outcome: RunOutcome): RunOutcome {
  const { sentPrompt: _prompt, sentMessages: _messages, toolCalls: _calls, moderation, ...rest } = outcome;
  return {
    ...rest,
    content: '',
    reasoning: null,
    error: rest.error && { ...rest.error, message: '' },
    citations: [],
    ...(moderation && {
      moderation: { ...moderation, answer: moderation.answer && { ...moderation.answer, withheld: null } },
    }),
  };
}

/** How much of a call is recorded: no more than the rules of its path and of its key, nor than its program wants. */
export function recordLevelOf(
  { api, caller, level }: Pick<ProgramCall, 'api' | 'caller' | 'level'>,
  { isPaused, levels }: Settings['recorder'],
): RecordLevel {
  if (api === null || isPaused) return 'none';
  return lowerLevel(lowerLevel(levels[api], caller.key?.recordLevel ?? 'all'), level);
}

/** How a call that Touchstone runs itself is recorded. */
export interface RunRecord {
  readonly level: RecordLevel;
  /** Absent if everything is recorded as it is. */
  readonly recording?: RunRecording;
}

interface RunRecordOptions {
  readonly recorder: Settings['recorder'];
  readonly reader: Pick<CallReader, 'redactSentTexts' | 'redactOutcome'>;
  readonly meter: Pick<CallMeter, 'noteHidden' | 'noteFailure'>;
}

/** Rejects if the rules can't be applied to what the program sends. Of an answer to which they can't, only the metadata is recorded. */
export async function createRunRecord(
  level: RecordLevel,
  sent: SentTexts,
  { recorder, reader, meter }: RunRecordOptions,
): Promise<RunRecord> {
  const { redaction: rules } = recorder;
  if (level === 'none') return { level, recording: { texts: null, outcome: (outcome) => Promise.resolve(outcome) } };
  const redact = (texts: SentTexts) =>
    rules.length === 0 ? { value: texts, hidden: [] } : reader.redactSentTexts({ ...texts, rules });
  if (level === 'metadata') {
    const empty = { promptText: '', systemMessage: null, messages: [], configuration: {} };
    const { program } = (await redact({ ...empty, program: sent.program })).value;
    return {
      level,
      recording: {
        texts: { ...empty, messages: null, configuration: null, ...program },
        outcome: (outcome) => Promise.resolve(withoutTexts(outcome)),
      },
    };
  }
  if (rules.length === 0) return { level };
  const { value, hidden } = await redact(sent);
  meter.noteHidden(rules, hidden);
  const { program, ...texts } = value;
  return {
    level,
    recording: {
      texts: { ...texts, ...program },
      async outcome(outcome) {
        try {
          const redacted = await reader.redactOutcome({ outcome, rules });
          meter.noteHidden(rules, redacted.hidden);
          return redacted.value;
        } catch (error) {
          meter.noteFailure(error);
          return withoutTexts(outcome);
        }
      },
    },
  };
}
