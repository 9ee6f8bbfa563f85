import { Ban, Pin } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { GroundingPassage } from '../../../../shared/contract/grounding.ts';
import { classNames } from '../../../components/class-names.ts';
import { IconButton } from '../../../components/icon-button.tsx';
import { plainText } from '../../../components/markdown/plain-text.ts';
import { MarkedText } from '../../../components/marked-text.tsx';
import { sourceAddress } from '../../../shell/addresses.ts';
import { omissionText, rankText } from './passage-choice.ts';

interface PassageRowProps {
  passage: GroundingPassage;
  /** What was searched. */
  query: string;
  onPin: () => void;
  onExclude: () => void;
}

function Facts({ passage }: { passage: GroundingPassage }) {
  const { page, tokens, relevance } = passage;
  const omission = omissionText(passage);
  const ranks = rankText(passage);
  return (
    <p className="row caption tertiary grounding__facts">
      {/* Nothing measured how relevant a pinned passage is that no search found. */}
      <span className="numbers nowrap">{ranks === null ? 'Pinned' : `${Math.round(relevance * 100)} %`}</span>
      {ranks !== null && <span className="nowrap">{ranks}</span>}
      {page !== undefined && <span className="nowrap">Page {page}</span>}
      <span className="numbers nowrap">about {tokens} tokens</span>
      {omission && <span className="nowrap caution">{omission}</span>}
    </p>
  );
}

/** One passage: its number in the prompt or why it has none, where it stands in both lists, and the two things one may want of it. */
export function PassageRow({ passage, query, onPin, onExclude }: PassageRowProps) {
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const { index, sourceId, sourceName, text, start, end, isPinned, omission } = passage;
  const isExcluded = omission === 'excluded';
  return (
    <li className={classNames('grounding__passage', index === null && 'is-left-out')}>
      <div className="row">
        <span className="mono--small grounding__number">{index === null ? '–' : `[${index}]`}</span>
        <button
          type="button"
          className="small medium truncate grounding__source"
          title={`Open ${sourceName} at this passage`}
          onClick={() => navigate(sourceAddress(sourceId, { start, end }))}
        >
          {sourceName}
        </button>
        <span className="grow" />
        <IconButton
          icon={Pin}
          size="small"
          label={isPinned ? 'Unpin' : 'Pin (always include)'}
          aria-pressed={isPinned}
          onClick={onPin}
        />
        <IconButton
          icon={Ban}
          size="small"
          label={isExcluded ? 'Include again' : 'Exclude'}
          aria-pressed={isExcluded}
          onClick={onExclude}
        />
      </div>
      <Facts passage={passage} />
      <button
        type="button"
        className={classNames('small secondary grounding__text', isOpen && 'is-open')}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <MarkedText text={plainText(text)} query={query} {...(!isOpen && { characters: 110 })} />
      </button>
    </li>
  );
}
