import { useEffect, useRef, useState } from 'react';
import { ChevronDown, ChevronUp, RefreshCw, Square, Trash2 } from 'lucide-react';
import { useLocation } from 'wouter';
import { Button, IconButton } from '../../components/button.tsx';
import { formatCount, formatTime } from '../../components/format.ts';
import { Failure, QueryView } from '../../components/state-panels.tsx';
import { useChangeSource, useSourcePassage, useSourceText } from '../../queries/knowledge.ts';
import type { SourceDetail } from '../../../shared/contract/knowledge-window.ts';
import { Progress } from '../../components/badges.tsx';
import { sourceAddress } from '../../shell/addresses.ts';
import { CopyLink } from '../../shell/links.tsx';
import { useActions } from '../../stores/actions.ts';
import { detailsOf, isStopped, stageWords } from './source-words.ts';

/** Characters around a passage at first, and added by each click. */
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
  /** The page that starts with it. */
  page: number | null;
}

/** Splits the shown text at the ends of the passage and at page starts. */
function segmentsOf({ text, start, pages }: ShownText, passage: { start: number; end: number } | null): Segment[] {
  const pageAt = new Map((pages ?? []).map((page) => [Math.max(page.start, start), page.page]));
  const end = start + text.length;
  const cuts = new Set([start, end, ...pageAt.keys(), ...(passage ? [passage.start, passage.end] : [])]);
  const offsets = [...cuts]
    .filter((context) => context >= start && context <= end)
    .toSorted((one, other) => one - other);
  return offsets.slice(0, -1).map((context, index) => ({
    text: text.slice(context - start, offsets[index + 1]! - start),
    isMarked: passage !== null && context >= passage.start && context < passage.end,
    page: pageAt.get(context) ?? null,
  }));
}

function Segments({ shown, passage }: { shown: ShownText; passage: { start: number; end: number } | null }) {
  const highlight = useRef<HTMLElement>(null);
  useEffect(() => {
    // Chromium 156 returns a promise, which React would call as the cleanup.
    void highlight.current?.scrollIntoView({ block: 'center' });
  }, [passage?.start, shown.start]);
  const segments = segmentsOf(shown, passage);
  const firstMarked = segments.findIndex(({ isMarked }) => isMarked);
  return segments.map(({ text, page, isMarked }, index) => (
    <span key={index}>
      {page !== null && <span className="knowledge__page caption tertiary">Page {page}</span>}
      {isMarked ? <mark ref={index === firstMarked ? highlight : undefined}>{text}</mark> : text}
    </span>
  ));
}

/** The text of a source around a highlighted passage, or from its start. */
function SourceText({ sourceId, passage }: { sourceId: string; passage: { start: number; end: number } | null }) {
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

interface SourcePanelProps {
  source: SourceDetail;
  passage: { start: number; end: number } | null;
  onRemove: () => void;
}

function Head({ source, passage, onRemove }: SourcePanelProps) {
  const change = useChangeSource();
  const act = (name: 'stop' | 'reindex') => change.mutate({ id: source.id, act: name });
  return (
    <div className="knowledge__source-head line-bottom">
      <div className="row">
        <h2 className="object-title truncate grow">{source.name}</h2>
        {source.progress ? (
          <Button size="small" icon={Square} onClick={() => act('stop')}>
            Stop
          </Button>
        ) : (
          <IconButton icon={RefreshCw} label="Re-index" size="small" onClick={() => act('reindex')} />
        )}
        <CopyLink address={sourceAddress(source.id, passage ?? undefined)} size="small" />
        <IconButton icon={Trash2} label="Delete source" size="small" onClick={onRemove} />
      </div>
      <p className="row caption tertiary">
        {detailsOf(source).map((detail) => (
          <span key={detail} className="nowrap numbers">
            {detail}
          </span>
        ))}
        {source.fileName !== source.name && <span className="truncate">{source.fileName}</span>}
        <span className="nowrap">Added {formatTime(source.createdAt)}</span>
      </p>
      {source.progress && (
        <div className="knowledge__stage">
          <Progress label={`Indexing ${source.name}`} fraction={source.progress.fraction} />
          <span className="caption tertiary numbers">{stageWords(source.progress)}</span>
        </div>
      )}
    </div>
  );
}

/** The position among the passages, with buttons to its neighbours. */
function PassageBar({ source, passage }: Pick<SourcePanelProps, 'source' | 'passage'>) {
  const [, navigate] = useLocation();
  const context = useSourcePassage(source.id, passage?.start ?? 0).data ?? null;
  const goTo = (next: { start: number; end: number } | null | undefined) => () => {
    if (next) navigate(sourceAddress(source.id, { start: next.start, end: next.end }));
  };
  const after = passage ? context?.after : context?.passage;
  const before = passage ? context?.before : null;
  const group = 'Knowledge';
  useActions('knowledge.passages', [
    {
      id: 'knowledge.passage.next',
      title: 'Next passage',
      group,
      keys: 'J',
      isEnabled: Boolean(after),
      run: goTo(after),
    },
    {
      id: 'knowledge.passage.back',
      title: 'Previous passage',
      group,
      keys: 'K',
      isEnabled: Boolean(before),
      run: goTo(before),
    },
  ]);
  if (!context) return null;
  return (
    <div className="header line-bottom">
      <h3>{passage ? `Passage ${context.passage.position + 1} of ${context.total}` : 'Text'}</h3>
      {passage && context.passage.page !== null && (
        <span className="caption tertiary nowrap">Page {context.passage.page}</span>
      )}
      {passage && context.passage.heading && (
        <span className="caption tertiary truncate">{context.passage.heading}</span>
      )}
      <span className="grow" />
      <IconButton
        icon={ChevronUp}
        label="Previous passage"
        keys="K"
        size="small"
        aria-disabled={!before}
        onClick={goTo(before)}
      />
      <IconButton
        icon={ChevronDown}
        label="Next passage"
        keys="J"
        size="small"
        aria-disabled={!after}
        onClick={goTo(after)}
      />
    </div>
  );
}

/** One source: its details, its progress, and its text with the open passage. */
export function SourcePanel({ source, passage, onRemove }: SourcePanelProps) {
  const change = useChangeSource();
  const hasText = source.characters !== null;
  return (
    <section className="panel knowledge__source" aria-label={source.name}>
      <Head source={source} passage={passage} onRemove={onRemove} />
      {source.status === 'Failed' && (
        <div className="list-state">
          <Failure
            title={isStopped(source) ? 'Indexing stopped' : "Couldn't read the source"}
            reason={isStopped(source) ? 'Re-index to resume.' : source.failureReason}
          >
            <Button
              icon={RefreshCw}
              isBusy={change.isPending}
              onClick={() => change.mutate({ id: source.id, act: 'reindex' })}
            >
              Re-index
            </Button>
          </Failure>
        </div>
      )}
      {hasText && <PassageBar source={source} passage={passage} />}
      {hasText && <SourceText key={`${source.id} ${passage?.start ?? ''}`} sourceId={source.id} passage={passage} />}
    </section>
  );
}
