import { ChevronDown, ChevronUp, MessageSquare } from 'lucide-react';
import { useId, useState } from 'react';
import type { Review, ReviewItem } from '../../../../shared/contract/review-items.ts';
import type { ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import type { AnswerValue, RubricItem } from '../../../../shared/contract/rubrics.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { formatTime } from '../../../components/format.ts';
import { useScoreKeys } from '../../../components/scores.tsx';
import { describeError, Notice, QueryView } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useReviewItem } from '../../../queries/review-queues.ts';
import { useAdjudicate } from '../../../queries/review-results.ts';
import { useActions } from '../../../stores/actions.ts';
import { AnswerField } from './answer-fields.tsx';
import { outsideText } from './agreement-words.ts';
import { answerText, hasAnswer, lengthProblem, optionsOf } from './answers.ts';
import { CommentForm, Comments } from './discussion.tsx';
import { ReadingPanel } from './reading-panel.tsx';
import { ReviewText } from './open-item.tsx';

export interface Disagreement {
  readonly item: ReviewItem;
  readonly reviews: readonly Review[];
  /** What judges and the guard say, as labels of the matrix. */
  readonly outside: readonly { readonly name: string; readonly value: string }[];
}

/** Who gave an answer. */
function ratersOf(reviews: readonly Review[], rubricItemId: string, value: AnswerValue): string {
  return reviews
    .filter(({ answers }) => answers.some((answer) => answer.rubricItemId === rubricItemId && answer.value === value))
    .map(({ reviewer }) => reviewer)
    .join(', ');
}

interface DecisionProps {
  queue: ReviewQueue;
  rubricItem: RubricItem;
  disagreement: Disagreement;
  onNext: () => void;
}

const group = 'Review';

interface DecisionKeys {
  setValue: (value: AnswerValue | undefined) => void;
  save: () => void;
  discuss: () => void;
}

function useDecisionKeys(rubricItem: RubricItem, value: AnswerValue | undefined, keysOf: DecisionKeys) {
  const { setValue, save, discuss } = keysOf;
  useScoreKeys(typeof value === 'number' ? value : null, setValue, { isEnabled: rubricItem.kind === 'score' });
  useActions('review-decision', [
    ...optionsOf(rubricItem).flatMap(({ value: option, label, keys }, index) =>
      keys === null
        ? []
        : [{ id: `decision.${index}`, title: `Decide: ${label}`, group, keys, run: () => setValue(option) }],
    ),
    { id: 'decision.save', title: 'Save the decision and next', group, keys: 'Mod+Enter', run: save },
    { id: 'decision.discuss', title: 'Discuss this item', group, keys: 'D', run: discuss },
  ]);
}

interface DecisionActionsProps {
  item: DecisionProps['disagreement']['item'];
  gold: { readonly value: AnswerValue } | undefined;
  isReady: boolean;
  isBusy: boolean;
  isDiscussing: boolean;
  onSave: () => void;
  onDiscuss: () => void;
}

function DecisionActions({ item, gold, isReady, isBusy, isDiscussing, onSave, onDiscuss }: DecisionActionsProps) {
  return (
    <div className="row">
      <Button variant="primary" keys="Mod+Enter" isBusy={isBusy} aria-disabled={!isReady} onClick={onSave}>
        Save and next
      </Button>
      {item.gold && gold && (
        <span className="caption tertiary truncate">
          {answerText(gold.value)} by {item.gold.decidedBy}, {formatTime(item.gold.decidedAt)}
        </span>
      )}
      <span className="grow" />
      <Button size="small" icon={MessageSquare} keys="D" aria-expanded={isDiscussing} onClick={onDiscuss}>
        Discuss
      </Button>
    </div>
  );
}

/** The gold value of one item of the rubric. Mount it again for another item. */
function Decision({ queue, rubricItem, disagreement: { item, reviews }, onNext }: DecisionProps) {
  const gold = item.gold?.answers.find(({ rubricItemId }) => rubricItemId === rubricItem.id);
  const [value, setValue] = useState<AnswerValue | undefined>(gold?.value);
  const [note, setNote] = useState(gold?.note ?? '');
  const adjudicate = useAdjudicate(queue.id);
  const textId = useId();
  const isTooLong = lengthProblem(note) !== null || (typeof value === 'string' && lengthProblem(value) !== null);
  const isReady = hasAnswer(value) && !isTooLong;
  const [isDiscussing, setDiscussing] = useState(false);
  const discuss = () => setDiscussing(true);
  function save() {
    if (!isReady || !hasAnswer(value) || adjudicate.isPending) return;
    const answer = { rubricItemId: rubricItem.id, value, note: note.trim() || null };
    adjudicate.mutate({ itemId: item.id, answers: [answer] }, { onSuccess: onNext });
  }
  useDecisionKeys(rubricItem, value, { setValue, save, discuss });
  return (
    <div className="rubric__foot line-top panel--inset">
      <div className="row">
        <h3 className="section-title">Your decision</h3>
        <span className="grow" />
        <span className="caption tertiary truncate">Becomes the gold value. All reviews are kept.</span>
      </div>
      <AnswerField
        item={rubricItem}
        value={value}
        onChange={setValue}
        hasKeys
        textId={textId}
        noteOf={(option) => ratersOf(reviews, rubricItem.id, option)}
      />
      <TextField
        label="Reason"
        isLabelHidden
        placeholder="Reason"
        error={lengthProblem(note)}
        value={note}
        onValueChange={setNote}
      />
      {adjudicate.error && <Notice tone="negative">{describeError(adjudicate.error).message}</Notice>}
      <DecisionActions
        {...{ item, gold, isReady, isDiscussing }}
        isBusy={adjudicate.isPending}
        onSave={save}
        onDiscuss={discuss}
      />
      {isDiscussing && <CommentForm queueId={queue.id} itemId={item.id} onClose={() => setDiscussing(false)} />}
    </div>
  );
}

interface AdjudicatePanelProps extends DecisionProps {
  position: string;
  onPrevious: () => void;
}

/** An item on which reviewers differ, with their reviews and the decision. */
export function AdjudicatePanel(props: AdjudicatePanelProps) {
  const { queue, rubricItem, disagreement, position, onPrevious, onNext } = props;
  const item = useReviewItem(queue.id, disagreement.item.id);
  useActions('review-disagreements', [
    { id: 'review.next-item', title: 'Next disagreement', group, keys: 'J', run: onNext },
    { id: 'review.previous-item', title: 'Previous disagreement', group, keys: 'K', run: onPrevious },
  ]);
  return (
    <div className="agreement__item line-left">
      <QueryView query={item} subject="the item" rows={6}>
        {(found) => (
          <ReadingPanel
            key={found.id}
            item={found}
            itemType={queue.itemType}
            end={
              <>
                <span className="caption tertiary nowrap numbers">{position}</span>
                <IconButton icon={ChevronUp} label="Previous" keys="K" size="small" onClick={onPrevious} />
                <IconButton icon={ChevronDown} label="Next" keys="J" size="small" onClick={onNext} />
              </>
            }
          >
            {disagreement.reviews.map((review) => (
              <ReviewText key={review.id} review={review} queue={queue} />
            ))}
            {disagreement.outside.map(({ name, value }) => (
              <article key={name} className="turn turn--note">
                <h3 className="truncate">{name}</h3>
                <p className="medium">{outsideText(value)}</p>
              </article>
            ))}
            <Comments item={found} />
          </ReadingPanel>
        )}
      </QueryView>
      <Decision
        key={`${disagreement.item.id} ${rubricItem.id}`}
        queue={queue}
        rubricItem={rubricItem}
        disagreement={disagreement}
        onNext={onNext}
      />
    </div>
  );
}
