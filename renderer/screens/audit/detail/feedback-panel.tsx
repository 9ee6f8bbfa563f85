import { History, Undo2 } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { formatScore, formatTime } from '../../../components/format.ts';
import { Popover } from '../../../components/popover.tsx';
import type { ConversationRun, FeedbackEntry, FeedbackInput } from '../../../../shared/contract/conversations.ts';
import { Button } from '../../../components/button.tsx';
import { Score, ScoreScale, useScoreKeys } from '../../../components/scores.tsx';
import { ErrorFailure } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useAuditFacets, useFeedbackHistory, useGiveFeedback } from '../../../queries/audit.ts';
import { useActions } from '../../../stores/actions.ts';
import { feedbackInput, addFeedbackStep, popFeedbackStep, useFeedbackSteps } from '../../../stores/audit.ts';
import { TagField } from './tag-field.tsx';

function readTags(scoreTags: string | null | undefined): string[] {
  return (scoreTags ?? '')
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

/** What an entry says: feedback on the run, or the answer to an item of a rubric. */
function readEntry({ value, note }: FeedbackEntry): { score: number | null; tags: string[]; note: string | null } {
  if (typeof value === 'object') return { score: value.score, tags: readTags(value.scoreTags), note };
  if (typeof value === 'number') return { score: value, tags: [], note };
  if (typeof value === 'boolean') return { score: null, tags: [value ? 'Yes' : 'No'], note };
  return { score: null, tags: [], note: note === null ? value : `${value}\n${note}` };
}

/** An entry in a few words. */
function summaryOf(entry: FeedbackEntry): string {
  const { score, tags, note } = readEntry(entry);
  if (score !== null || tags.length > 0) return [...(score === null ? [] : [formatScore(score)]), ...tags].join(', ');
  return note === null
    ? 'removed feedback'
    : `“${note.length > 60 ? `${[...note.slice(0, 120)].slice(0, 60).join('')}…` : note}”`;
}

function HistoryEntry({ entry, replaced }: { entry: FeedbackEntry; replaced: FeedbackEntry | undefined }) {
  const { reviewer, createdAt, question } = entry;
  const { score, tags, note } = readEntry(entry);
  const isCleared = score === null && tags.length === 0 && note === null;
  return (
    <li className="feedback-history__entry">
      <p className="caption tertiary">
        {formatTime(createdAt)}, {reviewer ?? 'unknown reviewer'}
      </p>
      {question !== null && <p className="feedback-history__question">{question}</p>}
      <p className="feedback-history__value">
        {score !== null && <Score score={score} />}
        {tags.map((tag) => (
          <span key={tag} className="tag">
            {tag}
          </span>
        ))}
        {isCleared && <span className="tertiary">Feedback removed</span>}
      </p>
      {note !== null && <p className="feedback-history__note">{note}</p>}
      {replaced !== undefined && (
        <p className="caption tertiary">
          Replaces {summaryOf(replaced)} ({formatTime(replaced.createdAt)}, {replaced.reviewer ?? 'unknown reviewer'})
        </p>
      )}
    </li>
  );
}

/** Who rated the run before, and how. Nothing is ever changed there. */
function FeedbackHistory({ conversationId, runId }: { conversationId: string; runId: string }) {
  const [isOpen, setOpen] = useState(false);
  const { data, error } = useFeedbackHistory(conversationId, runId, isOpen);
  const byId = new Map(data?.map((entry) => [entry.id, entry]));
  return (
    <Popover
      label="Feedback history"
      isOpen={isOpen}
      onOpenChange={setOpen}
      align="end"
      className="feedback-history scroll"
      trigger={
        <Button size="small" variant="quiet" icon={History}>
          History
        </Button>
      }
    >
      {error && <ErrorFailure title="Couldn't load the feedback history" error={error} />}
      {data === undefined && !error && <p className="tertiary">Loading</p>}
      {data?.length === 0 && <p className="tertiary">No feedback yet</p>}
      <ol>
        {data?.map((entry) => (
          <HistoryEntry key={entry.id} entry={entry} replaced={byId.get(entry.replaces ?? '')} />
        ))}
      </ol>
    </Popover>
  );
}

interface FeedbackPanelProps {
  conversationId: string;
  run: ConversationRun;
  /** `run 2`: the run that is rated. */
  runName: string;
  /** Another conversation is loading: keys and clicks must not rate this one. */
  isBehind: boolean;
  /** Saves the comment and moves to the next conversation of the list. */
  onNext: () => void;
}

/** The comment; saved on blur, and by Enter, which also moves to the next conversation. */
function FeedbackText({ text, onText, onNext }: { text: string; onText: (text: string) => void; onNext: () => void }) {
  const [typed, setTyped] = useState(text);
  const [savedText, setSavedText] = useState(text);
  if (savedText !== text) {
    setSavedText(text);
    setTyped(text);
  }
  const save = () => {
    if (typed.trim() !== text) onText(typed.trim());
  };
  const saveOnLeave = useEffectEvent(save);
  // The text is saved however the field is left: J, a click on another row, another screen.
  useEffect(() => () => saveOnLeave(), []);
  return (
    <TextField
      id="audit-feedback-text"
      label="Comment"
      isLabelHidden
      placeholder="Add a comment"
      maxLength={10_000}
      value={typed}
      onValueChange={setTyped}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === 'Enter') {
          event.preventDefault();
          save();
          onNext();
        }
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
      end={typed.trim() !== text && <span className="caption tertiary nowrap">Press Enter to save</span>}
    />
  );
}

/** `undo` is null without a change to undo. */
function useFeedbackActions({ addTag, undo }: { addTag: () => void; undo: (() => void) | null }): void {
  const group = 'Feedback';
  useActions('audit-feedback', [
    // `useScoreKeys` handles the digits and the minus. The entries here only list the keys.
    { id: 'audit.score', title: 'Rate from 0 to 9', group, keys: '0+9', isHiddenInPalette: true, run: () => {} },
    { id: 'audit.minus', title: 'Negative score', group, keys: '−', isHiddenInPalette: true, run: () => {} },
    { id: 'audit.tag', title: 'Add a tag', group, keys: 'T', run: addTag },
    {
      id: 'audit.comment',
      title: 'Add a comment',
      group,
      keys: 'C',
      run: () => document.getElementById('audit-feedback-text')?.focus(),
    },
    {
      id: 'audit.undo',
      title: 'Undo last feedback',
      group,
      keys: 'U',
      isEnabled: undo !== null,
      run: () => undo?.(),
    },
  ]);
}

/** A person's feedback on a run: score, tags and comment. Every change is saved at once and can be undone. */
export function FeedbackPanel({ conversationId, run, runName, isBehind, onNext }: FeedbackPanelProps) {
  const runId = run.conversationRunId;
  const feedback = useGiveFeedback();
  const known = (useAuditFacets().data?.tags ?? []).map(({ tag }) => tag);
  const steps = useFeedbackSteps((state) => state.steps);
  const [isTagging, setTagging] = useState(false);
  const shown = feedbackInput(run.feedback);
  const score = shown.score ?? null;

  const change = (part: FeedbackInput) => {
    addFeedbackStep({ conversationId, runId, before: feedback.give(conversationId, runId, part) });
  };
  const undo = () => {
    const step = popFeedbackStep();
    if (step) feedback.give(step.conversationId, step.runId, step.before);
  };
  const isWaiting = useScoreKeys(score, (next) => change({ score: next }), {
    isEnabled: run.status !== 'Running' && !isBehind,
  });
  useFeedbackActions({ addTag: () => setTagging(true), undo: steps.length > 0 ? undo : null });
  return (
    <div className="feedback line-top" inert={isBehind} role="group" aria-label={`Feedback on ${runName}`}>
      <div className="feedback__head">
        <h3 className="section-title">Feedback on {runName}</h3>
        {score !== null && <Score score={score} />}
        {isWaiting && <span className="score negative">−</span>}
        <span className="caption positive" role="status">
          {feedback.isSuccess && steps.at(-1)?.runId === runId ? 'Saved' : ''}
        </span>
        <span className="grow" />
        {steps.length > 0 && (
          <Button size="small" variant="quiet" icon={Undo2} keys="U" onClick={undo}>
            Undo
          </Button>
        )}
        <FeedbackHistory conversationId={conversationId} runId={runId} />
        <span className="caption tertiary wide-only">Press 0-9 to rate, - for negative</span>
      </div>
      {feedback.error && <ErrorFailure title="Feedback wasn't saved" error={feedback.error} />}
      <ScoreScale score={score} onScore={(next) => change({ score: next })} />
      <TagField
        tags={readTags(shown.scoreTags)}
        known={known}
        isOpen={isTagging}
        onOpenChange={setTagging}
        onChange={(tags) => change({ scoreTags: tags.length === 0 ? null : tags.join(', ') })}
      />
      <FeedbackText
        key={runId}
        text={shown.scoreText ?? ''}
        onText={(text) => change({ scoreText: text === '' ? null : text })}
        onNext={onNext}
      />
    </div>
  );
}
