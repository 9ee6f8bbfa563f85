import type { GroundingOmission, GroundingPassage, PassageReference } from '../../../../shared/contract/grounding.ts';
import type { DraftGrounding } from '../../../stores/playground-drafts.ts';

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

/** Pins a passage, or lets it go; a pinned one is not excluded. */
export function togglePin(grounding: DraftGrounding, passage: PassageReference): DraftGrounding {
  const { pinned, excluded } = grounding;
  const isPinned = includes(pinned, passage);
  return {
    ...grounding,
    pinned: isPinned ? without(pinned, passage) : [...pinned, referenceOf(passage)],
    excluded: without(excluded, passage),
  };
}

/** Excludes a passage, or lets it in again; an excluded one is not pinned. */
export function toggleExclusion(grounding: DraftGrounding, passage: PassageReference): DraftGrounding {
  const { pinned, excluded } = grounding;
  const isExcluded = includes(excluded, passage);
  return {
    ...grounding,
    pinned: without(pinned, passage),
    excluded: isExcluded ? without(excluded, passage) : [...excluded, referenceOf(passage)],
  };
}

const omissionWords: Readonly<Record<GroundingOmission, string>> = {
  'not-relevant': 'below threshold',
  'too-many': 'over the passage limit',
  'no-room': 'over the token budget',
  excluded: 'excluded',
};

/** Why a passage is not given to the model; null for one that is. */
export function omissionText({ omission }: Pick<GroundingPassage, 'omission'>): string | null {
  return omission === null ? null : omissionWords[omission];
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
