import { useEffect, useState } from 'react';
import { rowsPerPage } from '../../../queries/audit-list.ts';

/** How long the scroll bar must rest before what it stopped at is read, in milliseconds. */
const restMilliseconds = 80;

function pagesOf(first: number, last: number, count: number): number[] {
  const lastPage = Math.max(0, Math.ceil(count / rowsPerPage) - 1);
  // A quarter of a page ahead: the next one is there before its rows come into view.
  const ahead = rowsPerPage / 4;
  const from = Math.max(0, Math.floor((first - ahead) / rowsPerPage));
  const to = Math.min(lastPage, Math.floor((last + ahead) / rowsPerPage));
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
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
  const wanted = near.join();
  useEffect(() => {
    if (!isFar) return setRested(near);
    const timer = setTimeout(() => setRested(near), restMilliseconds);
    return () => clearTimeout(timer);
  }, [wanted, isFar]);
  return isFar ? rested : near;
}
