import { type ReactNode, useMemo } from 'react';
import { useLocation } from 'wouter';
import { diffWordsWithSpace } from 'diff';
import type { ReplayPair, ReplaySide } from '../../../../shared/contract/audit-replay.ts';
import { Button } from '../../../components/button.tsx';
import { formatRunDuration, usageText } from '../../../components/format.ts';
import { completeWords } from '../../../components/run-words.ts';
import { Notice } from '../../../components/state-panels.tsx';
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

interface SideProps {
  title: string;
  side: ReplaySide | null;
  /** Shown while the side has no run. */
  absent: string;
  text: ReactNode;
}

function Side({ title, side, absent, text }: SideProps) {
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
            {side.error && <Notice tone="negative">{side.error.message}</Notice>}
            <p className="turn__text">{text}</p>
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

/** One run before and after, side by side, with the differences in the answer highlighted. */
export function PairView({ pair, isDifferenceShown }: { pair: ReplayPair; isDifferenceShown: boolean }) {
  const { original, replayed, failure } = pair;
  const [before, after] = [original?.content ?? '', replayed?.content ?? ''];
  const canCompare = isDifferenceShown && original !== null && replayed !== null && pair.state !== 'running';
  return (
    <div className="replay__pair">
      <div className="replay__prompt scroll" tabIndex={0} role="region" aria-label="Input">
        <p className="turn__text small secondary">{(replayed ?? original)?.renderedPrompt}</p>
      </div>
      {failure && (
        <div className="replay__failure">
          <Notice tone="negative">{failure}</Notice>
        </div>
      )}
      <div className="replay__sides">
        <Side
          title="Before"
          side={original}
          absent="Original run deleted"
          text={canCompare ? <TextDifference before={before} after={after} side="before" /> : before}
        />
        <Side
          title="After"
          side={replayed}
          absent={waiting[pair.state]}
          text={canCompare ? <TextDifference before={before} after={after} side="after" /> : after}
        />
      </div>
    </div>
  );
}
