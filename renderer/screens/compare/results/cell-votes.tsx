import { useState } from 'react';
import type { ComparedCell } from '../../../../shared/contract/comparison-results.ts';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import { maxNoteCharacters } from '../../../../shared/contract/votes.ts';
import { Button } from '../../../components/button.tsx';
import { formatTime } from '../../../components/format.ts';
import { TextField } from '../../../components/text-field.tsx';
import { useVoteOnCell } from '../../../queries/comparison-results.ts';
import { useActions } from '../../../stores/actions.ts';
import { CheckMark } from './grid-row.tsx';

/** How many votes agree with the judges; empty without a judge. */
function agreementWords({ votes, verdicts }: ComparedCell): string {
  const judged = verdicts.find(({ pass }) => pass !== null)?.pass;
  const cast = votes.filter(({ vote }) => vote !== null);
  if (judged == null || cast.length === 0) return '';
  const agreeing = cast.filter(({ vote }) => (vote === 'pass') === judged).length;
  return `${agreeing} for, ${cast.length - agreeing} against the judge`;
}

/** The votes of people on an answer, and the buttons for one's own. A second click on the same vote takes it back. */
export function CellVotes({ comparison, cell }: { comparison: Comparison; cell: ComparedCell }) {
  const own = cell.votes.find(({ isOwn }) => isOwn);
  const vote = useVoteOnCell();
  const [note, setNote] = useState<string | null>(null);
  const canVote = cell.state === 'Completed';
  const send = (change: { vote?: 'pass' | 'fail' | null; note?: string | null }) =>
    vote.mutate({
      id: comparison.id,
      cell: { rowId: cell.rowId, variant: cell.variant, repeat: cell.repeat },
      vote: own?.vote ?? null,
      note: own?.note ?? null,
      ...change,
    });
  const choose = (choice: 'pass' | 'fail') => send({ vote: own?.vote === choice ? null : choice });
  const openNote = () => setNote(own?.note ?? '');
  useActions('compare-votes', [
    {
      id: 'compare.vote-pass',
      title: 'Vote pass',
      group: 'Compare',
      keys: 'P',
      isEnabled: canVote,
      run: () => choose('pass'),
    },
    {
      id: 'compare.vote-fail',
      title: 'Vote fail',
      group: 'Compare',
      keys: 'F',
      isEnabled: canVote,
      run: () => choose('fail'),
    },
    { id: 'compare.vote-note', title: 'Add a note', group: 'Compare', keys: 'N', isEnabled: canVote, run: openNote },
  ]);
  if (!canVote) return null;
  return (
    <section aria-label="Votes">
      <div className="header line-top">
        <h3>Votes</h3>
        <span className="caption tertiary truncate">{agreementWords(cell)}</span>
        <span className="grow" />
        <Button size="small" keys="P" aria-pressed={own?.vote === 'pass'} onClick={() => choose('pass')}>
          Pass
        </Button>
        <Button size="small" keys="F" aria-pressed={own?.vote === 'fail'} onClick={() => choose('fail')}>
          Fail
        </Button>
        <Button size="small" keys="N" onClick={openNote}>
          Note
        </Button>
      </div>
      {note !== null && (
        <form
          className="results__note"
          onSubmit={(event) => {
            event.preventDefault();
            send({ note: note.trim() || null });
            setNote(null);
          }}
        >
          <TextField label="Note" autoFocus maxLength={maxNoteCharacters} value={note} onValueChange={setNote} />
          <div className="row">
            <Button type="submit" size="small" variant="primary">
              Save note
            </Button>
            <Button size="small" onClick={() => setNote(null)}>
              Cancel
            </Button>
          </div>
        </form>
      )}
      <ul className="verdicts">
        {cell.votes.map((one) => (
          <li key={`${one.voter}/${one.updatedAt}`}>
            <CheckMark pass={one.vote === null ? null : one.vote === 'pass'} />
            <span>
              {one.isOwn ? 'You' : (one.voter ?? 'Another caller')}
              {one.note !== null && <span className="tertiary"> “{one.note}”</span>}
            </span>
            <span className="caption tertiary">{formatTime(one.updatedAt)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
