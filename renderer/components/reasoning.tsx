import { ChevronDown, ChevronRight } from 'lucide-react';
import { estimateTokens } from './format.ts';
import { Icon } from './icon.tsx';
import { Spinner } from './marks.tsx';

export interface ReasoningProps {
  text: string;
  /** Whether more of it is on its way. */
  isLive: boolean;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}

/** What the model thought before it answered, collapsed unless opened: people come for the answer. */
export function Reasoning({ text, isLive, isOpen, onOpenChange }: ReasoningProps) {
  if (text === '') return null;
  return (
    <section aria-label="Reasoning">
      <button type="button" className="fold" aria-expanded={isOpen} onClick={() => onOpenChange(!isOpen)}>
        <Icon icon={isOpen ? ChevronDown : ChevronRight} size="small" />
        Reasoning
        <span className="tertiary">about {estimateTokens(text).toLocaleString('en')} tokens</span>
        {isLive && <Spinner />}
      </button>
      {isOpen && <p className="reasoning">{text}</p>}
    </section>
  );
}
