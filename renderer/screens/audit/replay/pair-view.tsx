import { type ReactNode, useMemo } from 'react';
import { useLocation } from 'wouter';
import { diffWordsWithSpace } from 'diff';
import type { ReplayPair, ReplaySide } from '../../../../shared/contract/audit-replay.ts';
import type { RunDetail } from '../../../../shared/contract/runs.ts';
import type { ToolCall } from '../../../../shared/contract/tools.ts';
import { Button } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { MessageDiff } from '../../../components/diff/message-diff.tsx';
import {
  type ComparedMessage,
  hasSeveralMessages,
  indented,
  messagesOfRun,
} from '../../../components/diff/message-pairs.ts';
import type { ComparedSettings } from '../../../components/diff/settings-diff.ts';
import { SettingsDiff } from '../../../components/diff/version-diff.tsx';
import { formatRunDuration, usageText } from '../../../components/format.ts';
import { completeWords } from '../../../components/run-words.ts';
import { Notice } from '../../../components/state-panels.tsx';
import { useRun } from '../../../queries/runs.ts';
import { runAddress } from '../../../shell/addresses.ts';

/** Comparing longer texts would block the window. */
const maxCharacters = 200_000;

/** One side of a comparison with its differences highlighted: `del` on the left, `ins` on the right. */
function TextDifference({ before, after, side }: { before: string; after: string; side: 'before' | 'after' }) {
  const parts = useMemo(
    () => (before.length + after.length > maxCharacters ? null : diffWordsWithSpace(before, after)),
    [before, after],
  );
  if (!parts) return side === 'before' ? before : after;
  return parts
    .filter(({ added, removed }) => (side === 'before' ? !added : !removed))
    .map(({ value, added, removed }, index) => {
      if (added) return <ins key={index}>{value}</ins>;
      return removed ? <del key={index}>{value}</del> : <span key={index}>{value}</span>;
    });
}

function Measures({ side }: { side: ReplaySide }) {
  const details = [
    side.totalMs === null ? null : formatRunDuration(side.totalMs),
    usageText(side.usage, side.cost),
    side.status === 'Completed' ? completeWords(side.finishReason) : null,
  ].filter((measure) => measure !== null);
  return <span className="caption tertiary numbers">{details.join(', ')}</span>;
}

const noCalls: readonly ToolCall[] = [];

interface CallsProps {
  calls: readonly ToolCall[];
  /** Those of the other side; null to mark nothing. */
  others: readonly ToolCall[] | null;
  side: 'before' | 'after';
}

/** The calls of one side. Each is compared with the call of the same tool at the same place. */
function Calls({ calls, others, side }: CallsProps) {
  return calls.map((call, index) => {
    const other = others?.[index]?.name === call.name ? others[index] : undefined;
    const [own, counterpart] = [indented(call.arguments), other ? indented(other.arguments) : ''];
    const [before, after] = side === 'before' ? [own, counterpart] : [counterpart, own];
    return (
      <div key={index} className="replay__call">
        <h4 className="caption tertiary">Call of {call.name}</h4>
        <p className="turn__text mono">{others ? <TextDifference before={before} after={after} side={side} /> : own}</p>
      </div>
    );
  });
}

interface SideProps {
  title: string;
  side: ReplaySide | null;
  /** Shown while the side has no run. */
  absent: string;
  text: ReactNode;
  calls: ReactNode;
}

function Side({ title, side, absent, text, calls }: SideProps) {
  const [, navigate] = useLocation();
  return (
    <section className="panel replay__side" aria-label={title}>
      <div className="header header--line">
        <h3>{title}</h3>
        {side && <span className="small secondary truncate">{side.model}</span>}
        <span className="grow" />
        {side && (
          <Button size="small" variant="quiet" onClick={() => navigate(runAddress(side.runId))}>
            Open in playground
          </Button>
        )}
      </div>
      <div className="scroll replay__text" tabIndex={0} role="region" aria-label={`Answer ${title.toLowerCase()}`}>
        {side ? (
          <>
            <Measures side={side} />
            {side.warnings.map(({ message }) => (
              <Notice key={message} tone="caution">
                {message}
              </Notice>
            ))}
            {side.error && <Notice tone="negative">{side.error.message}</Notice>}
            {side.content !== '' && <p className="turn__text">{text}</p>}
            {calls}
          </>
        ) : (
          <p className="tertiary">{absent}</p>
        )}
      </div>
    </section>
  );
}

const waiting: Record<ReplayPair['state'], string> = {
  waiting: 'Queued',
  running: 'Running',
  completed: 'Replayed run deleted',
  failed: 'No replayed run',
};

const sideNames = ['Before', 'After'] as const;

/** The messages of both runs if one of them has several, or if they differ; null if their input is one text. */
function comparedInput(before: RunDetail, after: RunDetail) {
  const [old, fresh] = [before, after].map(({ input }) => messagesOfRun(input.systemMessage, input.messages)) as [
    ComparedMessage[],
    ComparedMessage[],
  ];
  const isSame = JSON.stringify(old) === JSON.stringify(fresh);
  return isSame && !hasSeveralMessages(old) ? null : { old, fresh };
}

/** Whether more differs than the model, which each side names. */
function hasOtherSettings(before: RunDetail, after: RunDetail): boolean {
  return JSON.stringify(before.input.configuration) !== JSON.stringify(after.input.configuration);
}

function settingsOf({ aiSystem, model, input: { configuration } }: RunDetail): ComparedSettings {
  return { aiSystem, model, configuration };
}

/** What both runs were sent: one text, or their messages with what differs, and changed tools, schemas and parameters. */
function PairInput({ pair: { original, replayed } }: { pair: ReplayPair }) {
  const before = useRun(original?.runId ?? null).data;
  const after = useRun(replayed?.runId ?? null).data;
  const input = useMemo(() => (before && after ? comparedInput(before, after) : null), [before, after]);
  const hasSettings = before !== undefined && after !== undefined && hasOtherSettings(before, after);
  return (
    <div
      className={classNames('replay__prompt scroll', (input || hasSettings) && 'replay__prompt--compared')}
      tabIndex={0}
      role="region"
      aria-label="Input"
    >
      {input ? (
        <MessageDiff before={input.old} after={input.fresh} names={sideNames} />
      ) : (
        <p className="turn__text small secondary">{(replayed ?? original)?.renderedPrompt}</p>
      )}
      {hasSettings && <SettingsDiff before={settingsOf(before)} after={settingsOf(after)} names={sideNames} />}
    </div>
  );
}

/** One run before and after, side by side, with the differences in the answer highlighted. */
export function PairView({ pair, isDifferenceShown }: { pair: ReplayPair; isDifferenceShown: boolean }) {
  const { original, replayed, failure } = pair;
  const [before, after] = [original?.content ?? '', replayed?.content ?? ''];
  const [oldCalls, newCalls] = [original?.toolCalls ?? noCalls, replayed?.toolCalls ?? noCalls];
  const canCompare = isDifferenceShown && original !== null && replayed !== null && pair.state !== 'running';
  return (
    <div className="replay__pair">
      <PairInput key={pair.position} pair={pair} />
      {failure && (
        <div className="replay__failure">
          <Notice tone="negative">{failure}</Notice>
        </div>
      )}
      <div key={`sides of ${pair.position}`} className="replay__sides">
        <Side
          title="Before"
          side={original}
          absent="Original run deleted"
          text={canCompare ? <TextDifference before={before} after={after} side="before" /> : before}
          calls={<Calls calls={oldCalls} others={canCompare ? newCalls : null} side="before" />}
        />
        <Side
          title="After"
          side={replayed}
          absent={waiting[pair.state]}
          text={canCompare ? <TextDifference before={before} after={after} side="after" /> : after}
          calls={<Calls calls={newCalls} others={canCompare ? oldCalls : null} side="after" />}
        />
      </div>
    </div>
  );
}
