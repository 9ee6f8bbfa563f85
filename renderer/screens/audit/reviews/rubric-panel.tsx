import { Check } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import type { ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import type { AnswerValue, RubricItem } from '../../../../shared/contract/rubrics.ts';
import { Badge } from '../../../components/badges.tsx';
import { classNames } from '../../../components/class-names.ts';
import { formatWhole } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { KeyCaps } from '../../../components/key-caps.tsx';
import { Score, useScoreKeys } from '../../../components/scores.tsx';
import { showToast } from '../../../stores/toasts.ts';
import { type Action, useActions } from '../../../stores/actions.ts';
import { AnswerField, Examples } from './answer-fields.tsx';
import {
  answeredCount,
  hasAnswer,
  lengthProblem,
  maxTextCharacters,
  missingItems,
  optionsOf,
  toAnswersInput,
  withQuote,
} from './answers.ts';
import { selectFirst } from './quotable-text.ts';
import { reviewedTextId } from './reading-panel.tsx';
import { RubricFoot, type RubricPanelProps } from './rubric-foot.tsx';
import { type DraftOfItem, useReviewDraft } from './draft-of-item.ts';

const group = 'Review';

interface ItemProps {
  item: RubricItem;
  number: number;
  isCurrent: boolean;
  value: AnswerValue | undefined;
  onChange: (value: AnswerValue | undefined) => void;
  onFocus: () => void;
  textId: string;
}

function Item({ item, number, isCurrent, value, onChange, onFocus, textId }: ItemProps) {
  const isAnswered = hasAnswer(value);
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isCurrent) section.current?.scrollIntoView?.({ block: 'nearest' });
  }, [isCurrent]);
  return (
    <section
      ref={section}
      className={classNames('rubric__item', isCurrent && 'is-current')}
      aria-label={`Item ${number}`}
      aria-current={isCurrent || undefined}
      onFocus={onFocus}
    >
      <div className="rubric__title">
        <span className="rubric__number">{number}</span>
        <h3>{item.question}</h3>
        <span className="grow" />
        {typeof value === 'number' && <Score score={value} />}
        {item.kind === 'text' && isCurrent && <KeyCaps keys="T" />}
        {!item.isRequired && !isAnswered && <span className="caption tertiary">optional</span>}
        {isAnswered && (
          <span className="positive">
            <Icon icon={Check} size="small" />
            <span className="visually-hidden">Answered</span>
          </span>
        )}
      </div>
      {item.description && <p className="caption tertiary rubric__hint">{item.description}</p>}
      <Examples item={item} />
      <AnswerField item={item} value={value} onChange={onChange} hasKeys={isCurrent} textId={textId} />
    </section>
  );
}

interface Keys {
  items: readonly RubricItem[];
  current: number;
  setCurrent: (index: number) => void;
  answer: (value: AnswerValue | undefined) => void;
  draft: DraftOfItem;
  textIdOf: (item: RubricItem) => string;
  noteId: string;
  quote: () => void;
  isQuoting: boolean;
  submit: () => void;
  skip: () => void;
}

/** What the text takes itself while a passage is chosen. They are in the list of keys. */
const quotingKeys = [
  ['sentence', 'While quoting: another sentence', 'ArrowUp+ArrowDown'],
  ['word', 'While quoting: start a word earlier or later', 'ArrowLeft+ArrowRight'],
  ['end', 'While quoting: move the end instead', 'Shift+Arrow'],
].map(([id = '', title = '', keys = '']): Action => ({
  ...{ id: `review.quote-${id}`, title, group, keys },
  isHiddenInPalette: true,
  run: () => {},
}));

/** The keys of the current item, then those of the whole review. */
function useRubricKeys(keys: Keys): void {
  const { items, current, setCurrent, answer, draft, textIdOf, noteId, quote, isQuoting, submit, skip } = keys;
  const item = items[current];
  const focus = (id: string) => document.getElementById(id)?.focus();
  const choices: Action[] = (item ? optionsOf(item) : []).flatMap(({ value, label, keys: key }, index) =>
    key === null
      ? []
      : [{ id: `review.option.${index}`, title: `Answer: ${label}`, group, keys: key, run: () => answer(value) }],
  );
  const score = item && draft.answers[item.id];
  useScoreKeys(typeof score === 'number' ? score : null, answer, { isEnabled: item?.kind === 'score' });
  const move = (by: number) => setCurrent(Math.min(Math.max(current + by, 0), items.length - 1));
  useActions('review-rubric', [
    ...choices,
    ...(item?.kind === 'text'
      ? [{ id: 'review.text', title: 'Write the answer', group, keys: 'T', run: () => focus(textIdOf(item)) }]
      : []),
    ...(item?.kind === 'score'
      ? [
          {
            id: 'review.score',
            title: 'Rate from −10 to 10',
            group,
            keys: '0+9',
            isHiddenInPalette: true,
            run: () => {},
          },
        ]
      : []),
    { id: 'review.next', title: 'Next rubric item', group, keys: 'J', run: () => move(1) },
    { id: 'review.previous', title: 'Previous rubric item', group, keys: 'K', run: () => move(-1) },
    { id: 'review.note', title: 'Add a note', group, keys: 'M', run: () => focus(noteId) },
    { id: 'review.quote', title: 'Quote text: the selection, or a sentence by keys', group, keys: 'Q', run: quote },
    ...quotingKeys,
    { id: 'review.quote-enter', title: 'Quote the passage', group, keys: 'Enter', isEnabled: isQuoting, run: quote },
    { id: 'review.skip', title: 'Skip with a reason', group, keys: 'S', run: skip },
    { id: 'review.submit', title: 'Submit and next', group, keys: 'Mod+Enter', run: submit },
  ]);
}

/** What the person selected in the text to review; null without a selection there. */
function selectedText(): string | null {
  const selection = document.getSelection();
  const text = selection?.toString().trim() ?? '';
  const isWithin = document.getElementById(reviewedTextId)?.contains(selection?.anchorNode ?? null) === true;
  return isWithin && text !== '' ? text : null;
}

/** The next item without an answer, or the one after this one. */
function nextOpen(items: readonly RubricItem[], current: number, isAnswered: (item: RubricItem) => boolean): number {
  const next = items.findIndex((item, index) => index > current && !isAnswered(item));
  return next < 0 ? Math.min(current + 1, items.length - 1) : next;
}

function Head({ rubric: { name, version, items }, draft }: Pick<ReviewQueue, 'rubric'> & { draft: DraftOfItem }) {
  return (
    <div className="header header--line">
      <h2 className="truncate">{name}</h2>
      <Badge isOutlined>v{version}</Badge>
      <span className="grow" />
      <span className="caption tertiary nowrap numbers">
        {answeredCount(draft.answers, items)} of {items.length} answered
      </span>
    </div>
  );
}

interface ItemsProps extends Pick<Keys, 'items' | 'draft' | 'current' | 'textIdOf'> {
  onChange: (index: number, value: AnswerValue | undefined) => void;
  onFocus: (index: number) => void;
}

function Items({ items, draft, current, textIdOf, onChange, onFocus }: ItemsProps) {
  return (
    <div className="scroll grow">
      {items.map((one, index) => (
        <Item
          key={one.id}
          item={one}
          number={index + 1}
          isCurrent={index === current}
          value={draft.answers[one.id]}
          onChange={(value) => onChange(index, value)}
          onFocus={() => onFocus(index)}
          textId={textIdOf(one)}
        />
      ))}
    </div>
  );
}

/** The draft with another answer, or without one. */
function answersWith({ answers }: DraftOfItem, { id }: RubricItem, value: AnswerValue | undefined) {
  const { [id]: _before, ...rest } = answers;
  return value === undefined ? rest : { ...rest, [id]: value };
}

/** The quoted text is added to the text of the item, or else to the note. Null if it has no room there. */
function reviewWithQuote(draft: DraftOfItem, item: RubricItem, quoted: string) {
  const { answers, note } = draft;
  const isText = item.kind === 'text';
  const text = withQuote(isText ? String(answers[item.id] ?? '') : note, quoted);
  if (text === null) return null;
  return isText ? { answers: answersWith(draft, item, text), note } : { answers, note: text };
}

function reportLongQuote(): void {
  showToast({
    tone: 'negative',
    text: `The quote wasn't added: a text has at most ${formatWhole(maxTextCharacters)} characters. Select less text.`,
  });
}

/** The answers so far, and the question that keys answer. */
function useAnswers({ queue, item, step }: Pick<RubricPanelProps, 'queue' | 'item' | 'step'>) {
  const { items } = queue.rubric;
  const isSending = step.isPending && step.variables.kind === 'submit' && step.variables.itemId === item.id;
  const draft = useReviewDraft(queue.id, item, isSending);
  const [current, setCurrent] = useState(0);
  function change(index: number, value: AnswerValue | undefined) {
    const answers = answersWith(draft, items[index]!, value);
    draft.change({ answers, note: draft.note });
    // A score may get a second digit, and a text more letters.
    const isChoice = items[index]!.kind === 'yesNo' || items[index]!.kind === 'category';
    if (isChoice && value !== undefined) setCurrent(nextOpen(items, index, ({ id }) => hasAnswer(answers[id])));
  }
  return { draft, current, setCurrent, change };
}

interface QuotingProps extends RubricPanelProps {
  /** A passage is chosen by keys. */
  isQuoting: boolean;
  onQuoting: () => void;
}

/** The rubric for the reserved item, by keys alone. Mount it again for another item. */
export function RubricPanel({ queue, item, step, isExpired, isQuoting, onQuoting }: QuotingProps) {
  const { items } = queue.rubric;
  const { draft, current, setCurrent, change } = useAnswers({ queue, item, step });
  const [isSkipping, setSkipping] = useState(false);
  const [isRequested, setRequested] = useState(false);
  const ownId = useId();
  const noteId = `${ownId}-note`;
  const textIdOf = ({ id }: RubricItem) => `${ownId}-${id}`;
  const missing = missingItems(draft.answers, items);

  function startQuoting() {
    const text = document.getElementById(reviewedTextId);
    if (!text || !selectFirst(text)) return;
    text.focus({ preventScroll: true });
    onQuoting();
  }
  function quote() {
    const quoted = selectedText();
    if (quoted === null) return startQuoting();
    const reviewed = items[current]!;
    const changed = reviewWithQuote(draft, reviewed, quoted);
    if (changed === null) return reportLongQuote();
    draft.change(changed);
    document.getElementById(reviewed.kind === 'text' ? textIdOf(reviewed) : noteId)?.focus();
  }
  function submit() {
    if (step.isPending) return;
    setRequested(true);
    if (missing.length > 0) return setCurrent(items.indexOf(missing[0]!));
    const tooLong = items.findIndex(({ id }) => lengthProblem(String(draft.answers[id] ?? '')) !== null);
    // The field says it.
    if (tooLong >= 0) return setCurrent(tooLong);
    if (lengthProblem(draft.note) !== null) return;
    const review = { answers: toAnswersInput(draft.answers, items), note: draft.note.trim() || null };
    draft.hold();
    step.mutate({ kind: 'submit', itemId: item.id, ...review });
  }
  useRubricKeys({
    items,
    current,
    setCurrent,
    answer: (value) => change(current, value),
    draft,
    textIdOf,
    noteId,
    quote,
    isQuoting,
    submit,
    skip: () => setSkipping(true),
  });
  return (
    <section className="panel panel--inset line-left rubric" aria-label="Rubric">
      <Head rubric={queue.rubric} draft={draft} />
      <Items {...{ items, draft, current, textIdOf }} onChange={change} onFocus={setCurrent} />
      <RubricFoot
        {...{ queue, item, step, isExpired, draft, noteId, missing, isRequested, isSkipping }}
        onSubmit={submit}
        onSkipping={setSkipping}
      />
    </section>
  );
}
