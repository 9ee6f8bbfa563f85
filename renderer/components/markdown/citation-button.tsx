import { createContext, useContext, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { Citation } from '../../../shared/contract/completions.ts';
import { Button } from '../button.tsx';
import { Popover } from '../popover.tsx';
import { plainText } from './plain-text.ts';
import { sourceAddress } from '../../shell/addresses.ts';

const none: readonly Citation[] = [];

/** The passages that the numbers in the text refer to. */
const CitationContext = createContext<readonly Citation[]>(none);

export function CitedText({ citations, children }: { citations: readonly Citation[]; children: ReactNode }) {
  return <CitationContext value={citations}>{children}</CitationContext>;
}

/** The text of a passage, its relevance to the query, and a link to its position in the source. */
function CitedPassage({ citation }: { citation: Citation }) {
  const [, navigate] = useLocation();
  const { index, sourceId, sourceName, text, relevance, page, start, end } = citation;
  return (
    <div className="citation">
      <p className="row">
        <span className="mono--small accent">[{index}]</span>
        <span className="strong truncate grow">{sourceName}</span>
        {page !== undefined && <span className="caption tertiary nowrap">Page {page}</span>}
        <span className="caption tertiary numbers nowrap">{Math.round(relevance * 100)} % relevant</span>
      </p>
      <p className="small secondary scroll citation__text" tabIndex={0}>
        {plainText(text)}
      </p>
      <div className="row">
        <Button size="small" onClick={() => navigate(sourceAddress(sourceId, { start, end }))}>
          Open source
        </Button>
      </div>
    </div>
  );
}

/** A passage's number as a button that shows the passage. */
export function CitationButton({ citation }: { citation: Citation }) {
  return (
    <Popover
      label={`Passage ${citation.index}`}
      className="citation__popover"
      trigger={
        <button type="button" className="citation__mark" title={citation.sourceName}>
          [{citation.index}]
        </button>
      }
    >
      <CitedPassage citation={citation} />
    </Popover>
  );
}

/** A number in an answer: a button if a passage has it, plain text if the model invented it. */
export function CitationNumber({ number }: { number: number }) {
  const citations = useContext(CitationContext);
  const citation = citations.find(({ index }) => index === number);
  return citation ? <CitationButton citation={citation} /> : `[${number}]`;
}
