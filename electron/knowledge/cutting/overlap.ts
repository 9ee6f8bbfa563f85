import { endingOf, linesOf, sentencesOf } from './sentences.ts';
import { estimateEmbeddingTokens } from './token-estimate.ts';
import { endOf, fillOf, target, tokensOf, type Unit } from './unit.ts';

/** About this part of a passage stands in the next one again, so that what runs across the cut is found in one of them. */
const overlap = 0.15;
/** Whole sentences up to here; a longer one is repeated from one of its last words on. */
const mostOverlap = 0.25;
/** Of a passage below this nothing is repeated. */
const leastFillToRepeat = 0.5;

function partsOf(unit: Unit): Unit[] {
  const parts = unit.kind === 'lines' ? linesOf(unit.text) : sentencesOf(unit.text);
  return [...parts].map(({ start, text }) => ({
    ...unit,
    start: unit.start + start,
    text,
    tokens: estimateEmbeddingTokens(text),
  }));
}

const fill = (unit: Unit) => fillOf(unit.text.length, unit.tokens, 0, target);

function endOfLongSentence(unit: Unit): Unit[] {
  const ending = endingOf(unit.text, Math.floor(overlap * target.characters));
  if (!ending) return [];
  const tokens = estimateEmbeddingTokens(ending.text);
  const repeated = { ...unit, start: unit.start + ending.start, text: ending.text, tokens };
  return fill(repeated) <= mostOverlap ? [repeated] : [];
}

/** The last sentences or lines of a passage that the next one begins with; none of a table, which would lose its beginning. */
export function overlapOf(units: readonly Unit[]): Unit[] {
  const characters = endOf(units.at(-1)!) - units[0]!.start;
  if (fillOf(characters, tokensOf(units), 0, target) < leastFillToRepeat) return [];
  const repeated: Unit[] = [];
  let filled = 0;
  for (const unit of units.toReversed()) {
    if (unit.kind === 'heading') break;
    for (const part of partsOf(unit).toReversed()) {
      const next = filled + fill(part);
      if (next > (filled === 0 ? mostOverlap : overlap)) {
        return repeated.length > 0 || part.kind === 'lines' ? repeated : endOfLongSentence(part);
      }
      repeated.unshift(part);
      filled = next;
    }
  }
  return repeated;
}
