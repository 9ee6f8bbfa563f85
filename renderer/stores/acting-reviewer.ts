import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { reviewerHeader } from '../../shared/contract/reviewers.ts';
import { shareBetweenWindows } from './share-between-windows.ts';

/** Who reviews at this window. Null: the host's own name for a window. */
interface ActingReviewer {
  token: string | null;
}

export const useActingReviewer = create<ActingReviewer>()(
  persist((): ActingReviewer => ({ token: null }), { name: 'touchstone.reviewer', version: 1 }),
);
shareBetweenWindows(useActingReviewer);

/** The headers of calls that depend on who reviews. */
export function reviewerHeaders(token: string | null): Record<string, string> {
  return token === null ? {} : { [reviewerHeader]: token };
}
