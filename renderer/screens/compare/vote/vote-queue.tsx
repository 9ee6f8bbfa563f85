import { type ReactNode, useEffect, useId, useState } from 'react';
import type { BlindVote, PairVote } from '../../../../shared/contract/blind-votes.ts';
import { useVoteStep, type VoteStep } from '../../../queries/blind-votes.ts';
import { type Action, useActions } from '../../../stores/actions.ts';
import { PairPanel } from './pair-panel.tsx';
import { ConfirmFinish, InputPanel, Toolbar, type View, VoteBar, voteKeys } from './vote-parts.tsx';

/** A note that isn't sent yet survives a reload. */
const noteKey = (voteId: string, rowId: string) => `blind-vote-note ${voteId} ${rowId}`;

function useNote(vote: BlindVote): [note: string, setNote: (note: string) => void] {
  const key = noteKey(vote.id, vote.pair?.rowId ?? '');
  const [notes, setNotes] = useState<Record<string, string>>({});
  const note = notes[key] ?? sessionStorage.getItem(key) ?? vote.note ?? '';
  return [
    note,
    (text) => {
      sessionStorage.setItem(key, text);
      setNotes({ [key]: text });
    },
  ];
}

interface VoteActions {
  /** Whether to finish, which has its own keys. */
  isAsking: boolean;
  choose: (given: PairVote) => void;
  finish: () => void;
  undo: () => void;
  setFinishing: (isFinishing: boolean) => void;
  view: View;
  setView: (view: View) => void;
  /** Of the field. */
  noteId: string;
}

function useVoteActions({ isAsking, choose, finish, undo, setFinishing, view, setView, noteId }: VoteActions): void {
  const group = 'Blind vote';
  const focusNote = () => document.getElementById(noteId)?.focus();
  const toggle = (part: keyof View) => setView({ ...view, [part]: !view[part] });
  const whileVoting: Omit<Action, 'group'>[] = [
    ...voteKeys.map(({ vote: given, title, keys }) => ({
      id: `vote.${given}`,
      title: `Vote: ${title}`,
      keys,
      run: () => choose(given),
    })),
    { id: 'vote.skip', title: 'Skip the pair', keys: 'S', run: () => choose('skip') },
    { id: 'vote.note', title: 'Write a note for the pair', keys: 'N', run: focusNote },
    { id: 'vote.differences', title: 'Mark differences', keys: 'D', run: () => toggle('isMarked') },
    { id: 'vote.passages', title: 'Show passages', keys: 'P', run: () => toggle('hasPassages') },
    { id: 'vote.finish', title: 'Finish the blind vote', keys: 'Escape', run: () => setFinishing(true) },
  ];
  const whileAsking: Omit<Action, 'group'>[] = [
    { id: 'vote.confirm', title: 'Finish and reveal', run: finish },
    { id: 'vote.continue', title: 'Continue voting', keys: 'Escape', run: () => setFinishing(false) },
  ];
  useActions('blind-vote', [
    ...(isAsking ? whileAsking : whileVoting).map((action) => ({ ...action, group })),
    { id: 'vote.undo', title: 'Undo the last vote', keys: 'Mod+Z', group, run: undo },
  ]);
}

interface VoteQueueProps {
  vote: BlindVote;
  back: ReactNode;
  onFinished: () => void;
}

/** One pair after the other, each with one key. */
export function VoteQueue({ vote, back, onFinished }: VoteQueueProps) {
  const { pair, counts } = vote;
  const step = useVoteStep(vote.id);
  const [note, setNote] = useNote(vote);
  const [view, setView] = useState({ isMarked: false, hasPassages: false });
  const [isFinishing, setFinishing] = useState(false);
  const noteId = useId();
  const isAsking = isFinishing || pair === null;

  // After a vote the focus would be on a text that is gone.
  useEffect(() => {
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
  }, [pair?.rowId]);

  function send(next: VoteStep) {
    if (!step.isPending) step.mutate(next);
  }
  function choose(given: PairVote) {
    if (!pair || isAsking || step.isPending) return;
    const { rowId, repeat } = pair;
    step.mutate(
      { kind: 'vote', rowId, repeat, vote: given, note },
      { onSuccess: () => sessionStorage.removeItem(noteKey(vote.id, rowId)) },
    );
  }
  function finish() {
    if (!step.isPending) step.mutate({ kind: 'finish' }, { onSuccess: onFinished });
  }
  const undo = () => send({ kind: 'undo' });
  useVoteActions({ isAsking, choose, finish, undo, setFinishing, view, setView, noteId });

  return (
    <div className="vote">
      <Toolbar vote={vote} back={back} onUndo={undo} onFinish={() => setFinishing(true)} />
      {isAsking || !pair ? (
        <ConfirmFinish vote={vote} onFinish={finish} onContinue={() => setFinishing(false)} />
      ) : (
        <>
          <InputPanel
            vote={vote}
            pair={pair}
            view={view}
            onView={setView}
            onQuestion={(question) => send({ kind: 'question', question })}
          />
          <PairPanel pair={pair} {...view} />
          <VoteBar counts={counts} note={note} onNote={setNote} noteId={noteId} onVote={choose} />
        </>
      )}
    </div>
  );
}
