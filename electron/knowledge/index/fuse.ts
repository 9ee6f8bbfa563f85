/**
 * How much a place in a list counts falls with 1 / (constant + place). 60 is what the method was published with; on our own questions
 * everything from 10 to 100 does about as well.
 */
const rankConstant = 60;

/** An item with its places in both lists, from 1; null where it is not in one. */
export interface FusedItem {
  readonly id: number;
  readonly textRank: number | null;
  readonly vectorRank: number | null;
  readonly score: number;
}

function reciprocal(rank: number | null): number {
  return rank === null ? 0 : 1 / (rankConstant + rank);
}

/** Reciprocal rank fusion of two lists of ids, best first: what is high in both comes first, whatever its scores there were. */
export function fuse(byWords: readonly number[], byMeaning: readonly number[]): FusedItem[] {
  const textRanks = new Map(byWords.map((id, index) => [id, index + 1]));
  const vectorRanks = new Map(byMeaning.map((id, index) => [id, index + 1]));
  const items = [...new Set([...byWords, ...byMeaning])].map((id): FusedItem => {
    const textRank = textRanks.get(id) ?? null;
    const vectorRank = vectorRanks.get(id) ?? null;
    return { id, textRank, vectorRank, score: reciprocal(textRank) + reciprocal(vectorRank) };
  });
  return items.toSorted((one, other) => other.score - one.score);
}

interface Piece {
  readonly source: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Two pieces of a source that share more than this part of the shorter one say the same. */
const sharedPart = 0.5;

function isSame(one: Piece, other: Piece): boolean {
  if (one.source !== other.source) return one.text === other.text;
  const shared = Math.min(one.end, other.end) - Math.max(one.start, other.start);
  return shared > sharedPart * Math.min(one.end - one.start, other.end - other.start);
}

/**
 * The first pieces that say something new. Of equally good ones the source comes first that has had fewer: the same file under two
 * names, and neighbours that overlap, do not push others out.
 */
export function distinctPieces<Item extends { readonly score: number }>(
  items: Iterable<Item & Piece>,
  limit: number,
): (Item & Piece)[] {
  const chosen: (Item & Piece)[] = [];
  const ofSource = new Map<number, number>();
  for (const equals of groupsOfEquals(items)) {
    const waiting = [...equals];
    while (waiting.length > 0 && chosen.length < limit) {
      const fewest = Math.min(...waiting.map(({ source }) => ofSource.get(source) ?? 0));
      const next = waiting.findIndex(({ source }) => (ofSource.get(source) ?? 0) === fewest);
      const [item] = waiting.splice(next, 1);
      if (chosen.some((other) => isSame(item!, other))) continue;
      chosen.push(item!);
      ofSource.set(item!.source, fewest + 1);
    }
    if (chosen.length >= limit) break;
  }
  return chosen;
}

function* groupsOfEquals<Item extends { readonly score: number }>(items: Iterable<Item>): Generator<Item[]> {
  let group: Item[] = [];
  for (const item of items) {
    if (group.length > 0 && group[0]!.score !== item.score) {
      yield group;
      group = [];
    }
    group.push(item);
  }
  if (group.length > 0) yield group;
}
