import { useLocation } from 'wouter';
import type { Citation } from '../../../shared/contract/completions.ts';
import { weakRelevance } from '../../../shared/contract/grounding.ts';
import { Button } from '../../components/button.tsx';
import { formatPlural } from '../../components/format.ts';
import { plainText } from '../../components/markdown/plain-text.ts';
import { MarkedText } from '../../components/marked-text.tsx';
import { EmptyState, ErrorFailure, LoadingRows, Notice } from '../../components/state-panels.tsx';
import { useKnowledgeSearch, type SearchQuery } from '../../queries/knowledge.ts';
import { sourceAddress } from '../../shell/addresses.ts';
import { useActions } from '../../stores/actions.ts';
import { useDeletions } from '../../stores/deletions.ts';

/** The passage that is open beside a list of passages. */
export interface OpenPassage {
  sourceId: string | null;
  start: number;
}

interface PassageResultProps {
  citation: Citation;
  /** Its terms are highlighted. */
  query: string;
  open: OpenPassage | null;
  /** Whether its number is shown: the number that an answer cites. */
  isNumbered?: boolean;
}

/** A passage as a button that opens it in its source. */
export function PassageResult({ citation, query, open, isNumbered = false }: PassageResultProps) {
  const [, navigate] = useLocation();
  const { index, sourceId, sourceName, text, relevance, page, start, end } = citation;
  const percent = relevance < 0.005 ? 'under 1' : Math.round(relevance * 100);
  const isOpen = open?.sourceId === sourceId && open.start === start;
  return (
    <li>
      <button
        type="button"
        className="knowledge__result"
        aria-current={isOpen || undefined}
        onClick={() => navigate(sourceAddress(sourceId, { start, end }))}
      >
        <span className="row">
          {isNumbered && <span className="mono--small accent">[{index}]</span>}
          <span className="medium truncate grow">{sourceName}</span>
          {page !== undefined && <span className="caption tertiary nowrap">Page {page}</span>}
          <span className="caption tertiary numbers nowrap">
            {percent}
            <span className="visually-hidden"> percent relevant</span>
            <span aria-hidden="true">%</span>
          </span>
        </span>
        <span className="small secondary knowledge__excerpt">
          <MarkedText text={plainText(text)} query={query} characters={160} />
        </span>
      </button>
    </li>
  );
}

interface SearchResultsProps {
  question: SearchQuery;
  open: OpenPassage | null;
  onEnd: () => void;
}

function ResultList({ question, open, onEnd, passages }: SearchResultsProps & { passages: readonly Citation[] }) {
  return (
    <>
      <div className="header line-bottom knowledge__head">
        <h2>Results</h2>
        <span className="caption tertiary numbers nowrap">{formatPlural(passages.length, 'passage')}</span>
        <span className="grow" />
        <Button size="small" variant="quiet" keys="Escape" onClick={onEnd}>
          Sources
        </Button>
      </div>
      {passages.every(({ relevance }) => relevance < weakRelevance) && (
        <Notice tone="caution">No close match. These passages are only weakly related.</Notice>
      )}
      <ol className="scroll knowledge__results" aria-label="Passages, most relevant first">
        {passages.map((citation) => (
          <PassageResult key={citation.index} citation={citation} query={question.query} open={open} />
        ))}
      </ol>
    </>
  );
}

/** The passages of a dataspace for a query, most relevant first, by keywords and by meaning. */
export function SearchResults(props: SearchResultsProps) {
  const { question, onEnd } = props;
  const search = useKnowledgeSearch(question);
  const deleted = useDeletions(({ ids }) => ids);
  useActions('knowledge.found', [
    { id: 'knowledge.found.end', title: 'Back to sources', group: 'Knowledge', keys: 'Escape', run: onEnd },
  ]);
  if (search.isPending) return <LoadingRows label="Searching" rows={6} />;
  if (search.isError) {
    return (
      <ErrorFailure title="Search failed" error={search.error}>
        <Button isBusy={search.isFetching} onClick={() => void search.refetch()}>
          Retry
        </Button>
      </ErrorFailure>
    );
  }
  const passages = search.data.filter(({ sourceId }) => !deleted.has(sourceId));
  if (passages.length > 0) return <ResultList {...props} passages={passages} />;
  return (
    <div className="list-state">
      <EmptyState
        title={`No results for "${question.query}"`}
        reason="No passage matches these keywords or their meaning."
      >
        <Button onClick={onEnd}>Back to sources</Button>
      </EmptyState>
    </div>
  );
}
