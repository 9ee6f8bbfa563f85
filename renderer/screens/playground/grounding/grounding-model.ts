import { useEffect, useMemo, useState } from 'react';
import type {
  GroundedRequest,
  GroundingOmission,
  GroundingPassage,
  PassageReference,
} from '../../../../shared/contract/grounding.ts';
import type { Draft, DraftGrounding } from '../../../stores/playground-drafts.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import { useGroundingPreview } from '../../../queries/runs.ts';
import { readChoice, readRequest } from '../session/run-request.ts';

export function referenceOf({ sourceId, start, end }: PassageReference): PassageReference {
  return { sourceId, start, end };
}

function isSame(one: PassageReference, other: PassageReference): boolean {
  return one.sourceId === other.sourceId && one.start === other.start && one.end === other.end;
}

export function includes(all: readonly PassageReference[], passage: PassageReference): boolean {
  return all.some((other) => isSame(other, passage));
}

function without(all: readonly PassageReference[], passage: PassageReference): PassageReference[] {
  return all.filter((other) => !isSame(other, passage));
}

/** Pins or unpins a passage. A pinned passage is not excluded. */
export function togglePin(grounding: DraftGrounding, passage: PassageReference): DraftGrounding {
  const { pinned, excluded } = grounding;
  const isPinned = includes(pinned, passage);
  return {
    ...grounding,
    pinned: isPinned ? without(pinned, passage) : [...pinned, referenceOf(passage)],
    excluded: without(excluded, passage),
  };
}

/** Excludes a passage or includes it again. An excluded passage is not pinned. */
export function toggleExclusion(grounding: DraftGrounding, passage: PassageReference): DraftGrounding {
  const { pinned, excluded } = grounding;
  const isExcluded = includes(excluded, passage);
  return {
    ...grounding,
    pinned: without(pinned, passage),
    excluded: isExcluded ? without(excluded, passage) : [...excluded, referenceOf(passage)],
  };
}

const omissionLabels: Readonly<Record<GroundingOmission, string>> = {
  'not-relevant': 'below threshold',
  'too-many': 'over the passage limit',
  'no-room': 'over the token budget',
  excluded: 'excluded',
};

/** Why the model doesn't receive a passage; null for one that it receives. */
export function omissionText({ omission }: Pick<GroundingPassage, 'omission'>): string | null {
  return omission === null ? null : omissionLabels[omission];
}

/** The ranks of a passage in both searches: `Keyword #2, semantic #1`; null for a pinned one that neither found. */
export function rankText({ textRank, vectorRank }: Pick<GroundingPassage, 'textRank' | 'vectorRank'>): string | null {
  const ranks = [
    textRank === null ? null : `keyword #${textRank}`,
    vectorRank === null ? null : `semantic #${vectorRank}`,
  ].filter((rank) => rank !== null);
  const text = ranks.join(', ');
  return text === '' ? null : text.charAt(0).toUpperCase() + text.slice(1);
}

/** A value once it hasn't changed for a while, so that the host doesn't search after every key press. */
function useDebounced<Value>(value: Value, milliseconds: number): Value {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return debounced;
}

/** Time without a change before the passages are searched again. */
const debounceMs = 400;

/** The grounded request of a draft; null for one that can't run yet or has no dataspaces. */
export function groundedRequest(draft: Draft, model: Model | null): GroundedRequest | null {
  const read = readRequest(draft, model);
  if ('blocker' in read || !read.request.dataspaceIds) return null;
  const choice = readChoice(draft);
  return { ...read.request, ...(choice && { grounding: choice }) };
}

/** The passages that a run of the draft would send now; none while the draft can't run. */
export function useGrounding(draft: Draft, model: Model | null, isShown: boolean) {
  const debounced = useDebounced(draft, debounceMs);
  const request = useMemo(() => (isShown ? groundedRequest(debounced, model) : null), [debounced, model, isShown]);
  const preview = useGroundingPreview(request);
  return { preview, hasRequest: request !== null, isDebouncing: debounced !== draft };
}
