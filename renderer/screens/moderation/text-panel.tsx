import { type ReactNode, useCallback, useMemo, useRef, useState } from 'react';
import { categories, type Category, type Highlight } from '../../../shared/contract/moderation.ts';
import { Segmented } from '../../components/choices.tsx';
import { formatPlural } from '../../components/format.ts';
import { categoryNames, CategorySwatch, listCategories } from './categories.tsx';
import { DocumentEditor } from './document-editor.tsx';
import { writeNearest } from './quality-figures.ts';
import { exampleTexts } from './examples.ts';
import type { OpenText } from './use-texts.ts';
import type { CategoryScores, ExplainedPassage, Explanation } from '../../../shared/contract/moderation-window.ts';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { Select } from '../../components/select.tsx';
import { ErrorFailure, LoadingRows } from '../../components/state-panels.tsx';
import { useExplanation } from '../../queries/moderation.ts';

/** Smaller changes show as 0.00. */
const minShownChange = 0.005;

const names = categories.map((value) => ({ value, label: categoryNames[value].name }));

function writeChange(change: number): string {
  if (Math.abs(change) < minShownChange) return '0.00';
  return `${change < 0 ? '\u2212' : '+'}${Math.abs(change).toFixed(2)}`;
}

function noteOf({ scores, passages, candidates }: Explanation, category: Category): string | null {
  if (passages.length === 0) return 'The text is too short to leave out a part of it.';
  const drops = passages.some((passage) => passage.scores[category] <= scores[category] - minShownChange);
  if (!drops) return 'No single passage raises this score. Several have the same effect, or it is low anyway.';
  return candidates > passages.length
    ? `The ${passages.length} most suspicious of ${candidates} passages that can decide the scores.`
    : null;
}

interface WhyRowProps {
  text: string;
  passage: ExplainedPassage;
  scores: CategoryScores;
  category: Category;
  onShow: (start: number, end: number) => void;
}

function WhyRow({ text, passage: { start, end, scores: without }, scores, category, onShow }: WhyRowProps) {
  const change = without[category] - scores[category];
  const isDrop = change <= -minShownChange;
  return (
    <tr>
      <td className="truncate">
        <button type="button" className="truncate" onClick={() => onShow(start, end)}>
          {text.slice(start, Math.min(end, start + 160))}
        </button>
      </td>
      <td className="right numbers">{without[category].toFixed(2)}</td>
      <td className={classNames('right', 'numbers', isDrop && 'negative')}>{writeChange(change)}</td>
      <td>
        <span className="mini" aria-hidden="true">
          <i style={{ width: `${Math.max(0, -change) * 100}%` }} />
        </span>
      </td>
    </tr>
  );
}

interface WhyTableProps {
  text: string;
  explanation: Explanation;
  category: Category;
  onShow: (start: number, end: number) => void;
}

function WhyTable({ text, explanation, category, onShow }: WhyTableProps) {
  const ranked = explanation.passages.toSorted((one, other) => one.scores[category] - other.scores[category]);
  return (
    <div className="scroll">
      <table className="grid grid--why">
        <thead>
          <tr>
            <th>Without this passage</th>
            <th className="right">Score</th>
            <th className="right">Change</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {ranked.map((passage) => (
            <WhyRow
              key={passage.start}
              text={text}
              passage={passage}
              scores={explanation.scores}
              category={category}
              onShow={onShow}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface WhyListProps {
  text: string;
  /** The category that is shown first. */
  category: Category;
  onShow: (start: number, end: number) => void;
  onStop: () => void;
}

/** How a score changes without each passage, the largest drop first. */
function WhyList({ text, category: first, onShow, onStop }: WhyListProps) {
  const { data, error, refetch } = useExplanation(text);
  const [chosen, setChosen] = useState<Category | null>(null);
  const category = chosen ?? first;
  if (error) {
    return (
      <ErrorFailure title="Couldn't explain the scores" error={error}>
        <Button onClick={() => void refetch()}>Retry</Button>
      </ErrorFailure>
    );
  }
  if (!data) {
    return (
      <div className="why__loading">
        <LoadingRows label="Checking the text without each passage" rows={3} />
        <Button size="small" onClick={onStop}>
          Stop
        </Button>
      </div>
    );
  }
  const note = noteOf(data, category);
  return (
    <>
      <div className="why__choice small">
        <Select label="Category" size="small" value={category} options={names} onValueChange={setChosen} />
        <span className="secondary">
          Score of the whole text: <b className="numbers">{data.scores[category].toFixed(2)}</b>
        </span>
      </div>
      {note && <p className="small secondary why__note">{note}</p>}
      {data.passages.length > 0 && <WhyTable text={text} explanation={data} category={category} onShow={onShow} />}
    </>
  );
}

/** Examples, shown while the text is empty. */
function ExampleList({ onSelect }: { onSelect: (text: string) => void }) {
  return (
    <section className="moderation__passages line-top" aria-label="Examples">
      <div className="header header--line">
        <h2>Examples</h2>
        <span className="caption tertiary truncate">Select one to check it</span>
      </div>
      <div className="scroll">
        <table className="grid">
          <tbody>
            {exampleTexts.map(({ text, category }) => (
              <tr key={text}>
                <td>{category && <CategorySwatch category={category} />}</td>
                <td className="truncate">
                  <button
                    type="button"
                    className="truncate"
                    title={text}
                    aria-label={`${category ? categoryNames[category].name : 'Harmless'}: ${text}`}
                    onClick={() => onSelect(text)}
                  >
                    {text}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const maxPassages = 200;

interface PassagesProps {
  text: string;
  passages: readonly Highlight[];
  onShow: (start: number, end: number) => void;
}

function PassageTable({ text, passages, onShow }: PassagesProps) {
  return (
    <div className="scroll">
      <table className="grid grid--passages">
        <tbody>
          {passages.slice(0, maxPassages).map(({ start, end, category }) => (
            <tr key={`${start}-${end}-${category}`}>
              <td>
                <CategorySwatch category={category} />
              </td>
              <td className="truncate">
                <button
                  type="button"
                  className="truncate"
                  aria-label={`${categoryNames[category].name}: show ${text.slice(start, Math.min(end, start + 80))}`}
                  onClick={() => onShow(start, end)}
                >
                  {text.slice(start, Math.min(end, start + 160))}
                </button>
              </td>
              <td className="right nowrap numbers">
                {start} to {end}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface PassagesSectionProps extends PassagesProps {
  /** Whether the current text was checked. */
  isKnown: boolean;
  /** The category to explain first; null if the scores can't be explained. */
  explained: Category | null;
}

/** The passages above a threshold, or how the scores change without each passage. */
function Passages({ text, passages, isKnown, explained, onShow }: PassagesSectionProps) {
  const [view, setView] = useState<'flagged' | 'why'>('flagged');
  const isWhy = view === 'why' && explained !== null;
  const caption =
    passages.length > 0 ? `${passages.length} above a threshold` : isKnown ? 'None above a threshold' : '';
  return (
    <section className="moderation__passages line-top" aria-label="Passages">
      <div className="header header--line">
        <h2>Passages</h2>
        <span className="caption tertiary truncate">{isWhy ? '' : caption}</span>
        <span className="grow" />
        {explained !== null && (
          <Segmented
            label="Passages shown"
            value={view}
            onValueChange={setView}
            options={[
              { value: 'flagged', label: 'Flagged' },
              { value: 'why', label: 'Why' },
            ]}
          />
        )}
      </div>
      {isWhy && (
        <WhyList key={text} text={text} category={explained} onShow={onShow} onStop={() => setView('flagged')} />
      )}
      {!isWhy && passages.length > 0 && <PassageTable text={text} passages={passages} onShow={onShow} />}
    </section>
  );
}

interface TextPanelProps {
  open: OpenText;
  /** Absent for a text of a batch. */
  onText?: ((text: string) => void) | undefined;
  /** Checks an example. */
  onExample: (text: string) => void;
  /** A button before the verdict. */
  start?: ReactNode;
}

/** The text, the passages that caused its flags, and the verdict. */
export function TextPanel({ open, onText, onExample, start }: TextPanelProps) {
  const { title, text, judged, flags, nearest, canExplain, passages, isBusy } = open;
  const show = useRef<(start: number, end: number) => void>(() => {});
  const onReady = useCallback((ready: (start: number, end: number) => void) => {
    show.current = ready;
  }, []);
  const words = useMemo(() => text.match(/\S+/g)?.length ?? 0, [text]);
  const isCurrent = judged === text;
  return (
    <section className="panel moderation__text" aria-label="Text">
      <div className="header header--line">
        <h2>{title}</h2>
        {start}
        <span role="status" className="truncate">
          {isBusy && <span className="badge">Checking</span>}
          {!isBusy && isCurrent && flags.length > 0 && (
            <span className="badge badge--negative">Flagged: {listCategories(flags)}</span>
          )}
          {!isBusy && isCurrent && flags.length === 0 && (
            <>
              <span className="badge badge--positive">Not flagged</span>
              {nearest && (
                <span className="caption secondary numbers moderation__nearest">
                  Closest: {categoryNames[nearest.category].name.toLowerCase()} {writeNearest(nearest)}
                </span>
              )}
            </>
          )}
          {!isBusy && judged !== null && !isCurrent && <span className="badge">Changed since the check</span>}
        </span>
        <span className="grow" />
        <span className="caption tertiary nowrap">{formatPlural(words, 'word')}</span>
      </div>
      <DocumentEditor value={text} onValueChange={onText} passages={isCurrent ? passages : []} onReady={onReady} />
      {onText && text === '' ? (
        <ExampleList onSelect={onExample} />
      ) : (
        <Passages
          text={text}
          passages={isCurrent ? passages : []}
          isKnown={judged !== null && isCurrent && !isBusy}
          explained={canExplain && isCurrent && !isBusy ? (nearest?.category ?? null) : null}
          onShow={(from, to) => show.current(from, to)}
        />
      )}
    </section>
  );
}
