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

interface NoteFormProps {
  initial: string;
  /** Null for an empty note. */
  onSave: (note: string | null) => void;
  onCancel: () => void;
}

function NoteForm({ initial, onSave, onCancel }: NoteFormProps) {
  const [note, setNote] = useState(initial);
  return (
    <form
      className="results__note"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(note.trim() || null);
      }}
    >
      <TextField label="Note" autoFocus maxLength={maxNoteCharacters} value={note} onValueChange={setNote} />
      <div className="row">
        <Button type="submit" size="small" variant="primary">
          Save note
        </Button>
        <Button size="small" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

function VoteList({ votes }: Pick<ComparedCell, 'votes'>) {
  return (
    <ul className="verdicts">
      {votes.map((one) => (
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
  );
}

type Choice = 'pass' | 'fail';

function useVoteActions(isEnabled: boolean, choose: (choice: Choice) => void, openNote: () => void): void {
  const group = 'Compare';
  useActions('compare-votes', [
    { id: 'compare.vote-pass', title: 'Vote pass', group, keys: 'P', isEnabled, run: () => choose('pass') },
    { id: 'compare.vote-fail', title: 'Vote fail', group, keys: 'F', isEnabled, run: () => choose('fail') },
    { id: 'compare.vote-note', title: 'Add a note', group, keys: 'N', isEnabled, run: openNote },
  ]);
}

/** The votes of people on an answer, and the buttons for one's own. A second click on the same vote takes it back. */
export function CellVotes({ comparison, cell }: { comparison: Comparison; cell: ComparedCell }) {
  const own = cell.votes.find(({ isOwn }) => isOwn);
  const vote = useVoteOnCell();
  const [isWriting, setWriting] = useState(false);
  const canVote = cell.state === 'Completed';
  const send = (change: { vote?: Choice | null; note?: string | null }) =>
    vote.mutate({
      id: comparison.id,
      cell: { rowId: cell.rowId, variant: cell.variant, repeat: cell.repeat },
      vote: own?.vote ?? null,
      note: own?.note ?? null,
      ...change,
    });
  const choose = (choice: Choice) => send({ vote: own?.vote === choice ? null : choice });
  const openNote = () => setWriting(true);
  useVoteActions(canVote, choose, openNote);
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
      {isWriting && (
        <NoteForm
          initial={own?.note ?? ''}
          onSave={(note) => {
            send({ note });
            setWriting(false);
          }}
          onCancel={() => setWriting(false)}
        />
      )}
      <VoteList votes={cell.votes} />
    </section>
  );
}
