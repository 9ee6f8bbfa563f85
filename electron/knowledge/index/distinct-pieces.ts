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
export function distinctPieces<Item extends { readonly relevance: number }>(
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

function* groupsOfEquals<Item extends { readonly relevance: number }>(items: Iterable<Item>): Generator<Item[]> {
  let group: Item[] = [];
  for (const item of items) {
    if (group.length > 0 && group[0]!.relevance !== item.relevance) {
      yield group;
      group = [];
    }
    group.push(item);
  }
  if (group.length > 0) yield group;
}
