import { useCallback, useMemo, useRef, type ReactNode } from 'react';
import type { Category, Highlight } from '../../../shared/contract/moderation.ts';
import { formatPlural } from '../../components/format.ts';
import { CategorySwatch } from './category-swatch.tsx';
import { categoryNames, listCategories } from './category-names.ts';
import { DocumentEditor } from './document-editor.tsx';

const mostPassages = 200;

interface PassagesProps {
  text: string;
  passages: readonly Highlight[];
  isKnown: boolean;
  onShow: (start: number, end: number) => void;
}

function Passages({ text, passages, isKnown, onShow }: PassagesProps) {
  return (
    <section className="moderation__passages line-top" aria-label="Passages">
      <div className="header header--line">
        <h2>Passages</h2>
        <span className="caption tertiary">
          {passages.length > 0 ? `${passages.length}, found on this device` : isKnown ? 'None above a threshold' : ''}
        </span>
      </div>
      {passages.length > 0 && (
        <div className="scroll">
          <table className="grid">
            <tbody>
              {passages.slice(0, mostPassages).map(({ start, end, category }) => (
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
      )}
    </section>
  );
}

export interface TextPanelProps {
  title: string;
  text: string;
  /** Absent for a text of a batch. */
  onText?: ((text: string) => void) | undefined;
  /** The text that was judged; the flags are about it. Null while nothing is. */
  judged: string | null;
  flags: readonly Category[];
  passages: readonly Highlight[];
  isBusy: boolean;
  /** A button before the verdict. */
  start?: ReactNode;
}

/** The text, the passages that caused its flags, and the verdict. */
export function TextPanel({ title, text, onText, judged, flags, passages, isBusy, start }: TextPanelProps) {
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
          {!isBusy && isCurrent && flags.length === 0 && <span className="badge badge--positive">Not flagged</span>}
          {!isBusy && judged !== null && !isCurrent && <span className="badge">Changed since the check</span>}
        </span>
        <span className="grow" />
        <span className="caption tertiary nowrap">{formatPlural(words, 'word')}</span>
      </div>
      <DocumentEditor value={text} onValueChange={onText} passages={isCurrent ? passages : []} onReady={onReady} />
      <Passages
        text={text}
        passages={isCurrent ? passages : []}
        isKnown={judged !== null && isCurrent && !isBusy}
        onShow={(from, to) => show.current(from, to)}
      />
    </section>
  );
}
