import { createContext, useContext } from 'react';
import type { SetupChange, SetupDraft } from '../../../stores/comparison-drafts.ts';
import type { ReadSetupState } from './use-setup.ts';

export interface Setup extends ReadSetupState {
  readonly draft: SetupDraft;
  readonly change: (change: SetupChange | ((before: SetupDraft) => SetupChange)) => void;
  /** Whether problems are shown: not before the first attempt to start or save, except those of the service. */
  readonly areProblemsShown: boolean;
}

const SetupContext = createContext<Setup | null>(null);

export const SetupProvider = SetupContext.Provider;

/** The open setup, for the parts of its page. */
export function useSetup(): Setup {
  const setup = useContext(SetupContext);
  if (!setup) throw new Error('Outside a setup');
  return setup;
}

/** What is wrong with a field, if it is shown. */
export function useProblem(path: string): string | null {
  const { problems, areProblemsShown } = useSetup();
  return areProblemsShown ? (problems.get(path) ?? null) : null;
}

/** The first problem of the fields at and below a path. */
export function useProblemBelow(path: string): string | null {
  const { problems, areProblemsShown } = useSetup();
  if (!areProblemsShown) return null;
  const found = [...problems].find(
    ([field]) => field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`),
  );
  return found?.[1] ?? null;
}
