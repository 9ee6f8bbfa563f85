/** Changes of one letter, or swaps of two neighbours, that turn one text into the other. */
export function editDistance(first: string, second: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: second.length + 1 }, (_, column) => column);
  for (let row = 1; row <= first.length; row++) {
    const current = [row];
    for (let column = 1; column <= second.length; column++) {
      const isSame = first[row - 1] === second[column - 1];
      let distance = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      const isSwap =
        row > 1 && column > 1 && first[row - 1] === second[column - 2] && first[row - 2] === second[column - 1];
      if (isSwap) distance = Math.min(distance, beforeLast[column - 2]! + 1);
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[second.length]!;
}

/** Longer names are compared by their beginning: a caller may send megabytes. */
const comparedLength = 200;

/** The names that are most like one, the nearest first; compared without case. */
export function nearestNames(name: string, candidates: Iterable<string>, most = 3): string[] {
  const wanted = name.slice(0, comparedLength).toLowerCase();
  return [...candidates]
    .map((candidate) => ({
      candidate,
      distance: editDistance(wanted, candidate.slice(0, comparedLength).toLowerCase()),
    }))
    .sort((first, second) => first.distance - second.distance || (first.candidate < second.candidate ? -1 : 1))
    .slice(0, most)
    .map(({ candidate }) => candidate);
}
