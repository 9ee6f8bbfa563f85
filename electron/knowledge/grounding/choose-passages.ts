import type { GroundingOmission, GroundingPassage, PassageReference } from '../../../shared/contract/grounding.ts';
import { estimateTokens } from '../../common/estimate-tokens.ts';
import type { FoundPassage, RankedPassage } from '../retrieval/create-retrieval.ts';

/** What a prompt puts around each passage. */
const tokensAround = 20;

/** A passage that is less likely than the best one by this factor would only distract. */
const minShare = 0.1;

/** An estimate, rather too high. */
export function passageTokens(text: string): number {
  return estimateTokens(text) + tokensAround;
}

export interface PassageLimits {
  /** Passages below this are not given: an answer from them would most likely be made up. */
  readonly relevance: number;
  /** Estimated tokens of all passages together; the first one is given whatever it takes, unless there is no room at all. */
  readonly tokens: number;
  readonly passages: number;
}

export interface PassageChoice {
  /** Given first, in this order. */
  readonly pinned: readonly FoundPassage[];
  readonly found: readonly RankedPassage[];
  readonly excluded: readonly PassageReference[];
}

/** Whether a passage is the one that is meant; its excerpts name it too. */
function holds(passage: PassageReference, place: PassageReference): boolean {
  return passage.sourceId === place.sourceId && passage.start <= place.start && passage.end >= place.end;
}

const unranked = { textRank: null, textScore: null, coverage: 0, vectorRank: null, similarity: null };

/** Decides which passages a model is given, numbers them, and says of the others why not. */
export function choosePassages({ pinned, found, excluded }: PassageChoice, limits: PassageLimits): GroundingPassage[] {
  const isPinned = (passage: FoundPassage) => pinned.some((other) => holds(passage, other));
  const candidates = [
    ...pinned.map((passage) => ({
      ...unranked,
      ...(found.find((other) => holds(passage, other)) ?? passage),
      isPinned: true,
    })),
    ...found.filter((passage) => !isPinned(passage)).map((passage) => ({ ...passage, isPinned: false })),
  ];
  const least = Math.max(limits.relevance, minShare * Math.max(0, ...found.map(({ relevance }) => relevance)));
  let given = 0;
  let used = 0;

  function omissionOf(passage: (typeof candidates)[number], tokens: number): GroundingOmission | null {
    if (excluded.some((other) => holds(passage, other))) return 'excluded';
    if (!passage.isPinned && passage.relevance < least) return 'not-relevant';
    if (limits.tokens <= 0 || (given > 0 && used + tokens > limits.tokens)) return 'no-room';
    return !passage.isPinned && given >= limits.passages ? 'too-many' : null;
  }

  const judged = candidates.map((passage): GroundingPassage => {
    const tokens = passageTokens(passage.text);
    const omission = omissionOf(passage, tokens);
    if (omission === null) {
      given += 1;
      used += tokens;
    }
    return { ...passage, index: omission === null ? given : null, omission, tokens };
  });
  return [...judged.filter(({ index }) => index !== null), ...judged.filter(({ index }) => index === null)];
}
