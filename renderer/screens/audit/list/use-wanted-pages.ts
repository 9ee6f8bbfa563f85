import { useEffect, useState } from 'react';
import { rowsPerPage } from '../../../queries/audit-list.ts';

/** How long the scroll bar must rest before what it stopped at is read, in milliseconds. */
const restMilliseconds = 80;

interface Pages {
  from: number;
  to: number;
}

function pagesOf(first: number, last: number, count: number): Pages {
  const lastPage = Math.max(0, Math.ceil(count / rowsPerPage) - 1);
  // A quarter of a page ahead: the next one is there before its rows come into view.
  const ahead = rowsPerPage / 4;
  const from = Math.max(0, Math.floor((first - ahead) / rowsPerPage));
  const to = Math.min(lastPage, Math.floor((last + ahead) / rowsPerPage));
  return { from, to };
}

/** The pages that the rows in view need. While the scroll bar is dragged far nothing is asked for until it rests. */
export function useWantedPages({
  first,
  last,
  count,
  isFar,
}: {
  first: number;
  last: number;
  count: number;
  isFar: boolean;
}): readonly number[] {
  const near = pagesOf(first, last, count);
  const [rested, setRested] = useState(near);
  const { from, to } = near;
  useEffect(() => {
    if (!isFar) {
      setRested({ from, to });
      return;
    }
    const timer = setTimeout(() => setRested({ from, to }), restMilliseconds);
    return () => clearTimeout(timer);
  }, [from, to, isFar]);
  const wanted = isFar ? rested : near;
  return Array.from({ length: Math.max(0, wanted.to - wanted.from + 1) }, (_, index) => wanted.from + index);
}
