import { useLocation } from 'wouter';
import type { Citation } from '../../../shared/contract/completions.ts';
import { Button } from '../../components/button.tsx';
import { formatPlural } from '../../components/format.ts';
import { MarkedText } from '../../components/marked-text.tsx';
import { EmptyState, ErrorFailure, LoadingRows } from '../../components/state-panels.tsx';
import { useKnowledgeSearch, type SearchQuestion } from '../../queries/knowledge.ts';
import { sourceAddress } from '../../shell/addresses.ts';
import { useActions } from '../../stores/actions.ts';

function Result({ citation, query, isOpen }: { citation: Citation; query: string; isOpen: boolean }) {
  const [, navigate] = useLocation();
  const { sourceId, sourceName, text, relevance, page, start, end } = citation;
  const percent = relevance < 0.005 ? 'under 1' : Math.round(relevance * 100);
  return (
    <li>
      <button
        type="button"
        className="knowledge__result"
        aria-current={isOpen || undefined}
        onClick={() => navigate(sourceAddress(sourceId, { start, end }))}
      >
        <span className="row">
          <span className="medium truncate grow">{sourceName}</span>
          {page !== undefined && <span className="caption tertiary nowrap">page {page}</span>}
          <span className="caption tertiary numbers nowrap">
            {percent} <span className="visually-hidden">percent relevant</span>
            <span aria-hidden="true">%</span>
          </span>
        </span>
        <span className="small secondary knowledge__excerpt">
          <MarkedText text={text} query={query} characters={160} />
        </span>
      </button>
    </li>
  );
}

interface SearchResultsProps {
  question: SearchQuestion;
  open: { sourceId: string | null; start: number } | null;
  onEnd: () => void;
}

/** What a dataspace holds about a question, best first, by words and by meaning. */
export function SearchResults({ question, open, onEnd }: SearchResultsProps) {
  const search = useKnowledgeSearch(question);
  useActions('knowledge.found', [
    { id: 'knowledge.found.end', title: 'Back to the sources', group: 'Knowledge', keys: 'Escape', run: onEnd },
  ]);
  if (search.isPending) return <LoadingRows label="Searching" rows={6} />;
  if (search.isError) {
    return (
      <ErrorFailure title="The search failed" error={search.error}>
        <Button isBusy={search.isFetching} onClick={() => void search.refetch()}>
          Try again
        </Button>
      </ErrorFailure>
    );
  }
  if (search.data.length === 0) {
    return (
      <div className="list-state">
        <EmptyState
          title="Nothing found"
          reason="No passage of this dataspace has these words or comes near in meaning."
        >
          <Button onClick={onEnd}>Back to the sources</Button>
        </EmptyState>
      </div>
    );
  }
  return (
    <>
      <div className="header line-bottom knowledge__head">
        <h2>Found</h2>
        <span className="caption tertiary numbers nowrap">
          {formatPlural(search.data.length, 'passage')}, best first
        </span>
        <span className="grow" />
        <Button size="small" variant="quiet" keys="Escape" onClick={onEnd}>
          Sources
        </Button>
      </div>
      <ol className="scroll knowledge__results" aria-label="Passages, best first">
        {search.data.map((citation) => (
          <Result
            key={citation.index}
            citation={citation}
            query={question.query}
            isOpen={open?.sourceId === citation.sourceId && open.start === citation.start}
          />
        ))}
      </ol>
    </>
  );
}
