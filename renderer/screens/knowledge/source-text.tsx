import { useEffect, useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { formatCount } from '../../components/format.ts';
import { QueryView } from '../../components/query-view.tsx';
import { useSourceText } from '../../queries/knowledge.ts';

/** Characters shown around a passage at first, and how many more each press brings. */
const firstContext = 3_000;
const moreContext = 12_000;
const maxContext = 45_000;

interface ShownText {
  text: string;
  start: number;
  end: number;
  characters: number;
  pages: { page: number; start: number; end: number }[] | null;
}

interface Segment {
  text: string;
  isMarked: boolean;
  /** The page that begins with it. */
  page: number | null;
}

/** Cuts what is shown at the ends of the passage and at the beginnings of pages. */
function segmentsOf({ text, start, pages }: ShownText, passage: { start: number; end: number } | null): Segment[] {
  const pageAt = new Map((pages ?? []).map((page) => [Math.max(page.start, start), page.page]));
  const end = start + text.length;
  const cuts = new Set([start, end, ...pageAt.keys(), ...(passage ? [passage.start, passage.end] : [])]);
  const places = [...cuts].filter((place) => place >= start && place <= end).toSorted((one, other) => one - other);
  return places.slice(0, -1).map((place, index) => ({
    text: text.slice(place - start, places[index + 1]! - start),
    isMarked: passage !== null && place >= passage.start && place < passage.end,
    page: pageAt.get(place) ?? null,
  }));
}

function Segments({ shown, passage }: { shown: ShownText; passage: { start: number; end: number } | null }) {
  const mark = useRef<HTMLElement>(null);
  useEffect(() => {
    // Chromium 156 answers with a promise, which React would call as the cleanup.
    void mark.current?.scrollIntoView({ block: 'center' });
  }, [passage?.start, shown.start]);
  const segments = segmentsOf(shown, passage);
  const firstMarked = segments.findIndex(({ isMarked }) => isMarked);
  return segments.map(({ text, page, isMarked }, index) => (
    <span key={index}>
      {page !== null && <span className="knowledge__page caption tertiary">Page {page}</span>}
      {isMarked ? <mark ref={index === firstMarked ? mark : undefined}>{text}</mark> : text}
    </span>
  ));
}

/** The text of a source around a passage, which is marked, or from its beginning. */
export function SourceText({
  sourceId,
  passage,
}: {
  sourceId: string;
  passage: { start: number; end: number } | null;
}) {
  const [context, setContext] = useState(firstContext);
  const range = passage ? { ...passage, context } : { start: 0, end: firstContext + context, context: 0 };
  const query = useSourceText(sourceId, range);
  const more = (label: string) => (
    <Button
      size="small"
      variant="quiet"
      isBusy={query.isFetching}
      onClick={() => setContext(Math.min(maxContext, context + moreContext))}
    >
      {label}
    </Button>
  );
  return (
    <QueryView query={query} subject="the text" rows={8}>
      {(shown) => (
        <div className="scroll knowledge__text" tabIndex={0} role="document" aria-label="Text of the source">
          {shown.start > 0 && (
            <div className="row">
              {context < maxContext && more('Show more before')}
              <span className="caption tertiary">{formatCount(shown.start)} characters before</span>
            </div>
          )}
          <div className="knowledge__prose">
            <Segments shown={shown} passage={passage} />
          </div>
          {shown.end < shown.characters && (
            <div className="row">
              {context < maxContext && more('Show more after')}
              <span className="caption tertiary">{formatCount(shown.characters - shown.end)} characters after</span>
            </div>
          )}
        </div>
      )}
    </QueryView>
  );
}
