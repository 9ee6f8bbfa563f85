import { ChevronDown, ChevronRight } from 'lucide-react';
import { useEffect, useState } from 'react';
import { formatCost, formatPlural } from './format.ts';
import { Icon } from './icon.tsx';
import { Spinner } from './badges.tsx';
import type { Model } from '../../shared/contract/providers.ts';
import { useModels } from '../queries/providers.ts';
import { useOnDevice } from '../queries/on-device.ts';
import { runsOnDevice } from './models/model-list.ts';

interface ReasoningProps {
  text: string;
  /** Whether more reasoning may arrive. */
  isLive: boolean;
  /** Null when the provider hasn't reported them. */
  tokens: number | null;
  /** The part of the run's cost in US dollars; null when unknown. */
  cost?: number | null;
  /** Whether the provider's report has arrived, or never will. */
  hasEnded: boolean;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}

/** Providers report the tokens when a run ends. An estimate would be wrong: many send a summary of the reasoning only. */
function reasoningUsage({ tokens, cost = null, hasEnded }: Pick<ReasoningProps, 'tokens' | 'cost' | 'hasEnded'>) {
  if (tokens === null) return hasEnded ? 'tokens not reported' : null;
  const count = formatPlural(tokens, 'token');
  return cost === null ? count : `${count}, ${formatCost(cost)}`;
}

/** The model's reasoning before its answer. Collapsed by default: people come for the answer. */
export function Reasoning({ text, isLive, isOpen, onOpenChange, ...usage }: ReasoningProps) {
  if (text === '') return null;
  return (
    <section aria-label="Reasoning">
      <button type="button" className="fold" aria-expanded={isOpen} onClick={() => onOpenChange(!isOpen)}>
        <Icon icon={isOpen ? ChevronDown : ChevronRight} size="small" />
        Reasoning
        <span className="tertiary">{reasoningUsage(usage)}</span>
        {isLive && <Spinner />}
      </button>
      {isOpen && <p className="reasoning">{text}</p>}
    </section>
  );
}

/** Whole seconds since a moment. */
function useSecondsSince(timestamp: string): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.floor((now - Date.parse(timestamp)) / 1000));
}

function Loading({ since }: { since: string }) {
  const seconds = useSecondsSince(since);
  return (
    <span>
      Loading model
      {/* A screen reader announces the state once, not every second. */}
      <span aria-hidden="true" className="numbers">{`, ${seconds} s`}</span>
    </span>
  );
}

/** What a run does before its first token. The on-device model takes seconds to load, which is not the model's own delay. */
export function WaitingForAnswer({ aiSystem, model }: { aiSystem: Model['aiSystem']; model: string }) {
  const known = useModels().data?.data.find((entry) => entry.aiSystem === aiSystem && entry.name === model);
  const loadingSince = useOnDevice().data?.engine.loadingSince ?? null;
  const isLoading = known !== undefined && runsOnDevice(known) && loadingSince !== null;
  return (
    <span className="row small accent nowrap">
      <Spinner />
      {isLoading ? <Loading since={loadingSince} /> : 'Waiting for the first token'}
    </span>
  );
}
