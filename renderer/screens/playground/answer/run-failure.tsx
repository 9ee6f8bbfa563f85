import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { addressRemedy } from '../../../../shared/address-safety.ts';
import { Button } from '../../../components/button.tsx';
import { Failure } from '../../../components/state-panels.tsx';
import { accessAddress, servingModel } from '../../../components/remedies.ts';
import { failureWords, type Remedy, type RunFailure as Cause } from '../../../components/run-words.ts';
import type { ShownRun } from './shown-run.ts';

export interface RemedyActions {
  runAgain: () => void;
  pickModel: () => void;
  installModel: () => void;
}

/** Whole seconds until a moment, down to 0. */
function useSecondsUntil(moment: number | null): number {
  const [now, setNow] = useState(Date.now);
  const left = moment === null ? 0 : Math.max(0, Math.ceil((moment - now) / 1000));
  useEffect(() => {
    if (left === 0) return;
    const timer = setTimeout(() => setNow(Date.now()), 1000);
    return () => clearTimeout(timer);
  }, [left, now]);
  return left;
}

interface RunAgainProps {
  retryAt: number | null;
  isFirst: boolean;
  isColumn: boolean;
  runAgain: () => void;
}

function RunAgain({ retryAt, isFirst, isColumn, runAgain }: RunAgainProps) {
  const wait = useSecondsUntil(retryAt);
  return (
    <Button
      variant={isFirst ? 'default' : 'quiet'}
      // The keys run all columns.
      keys={isColumn ? undefined : 'Mod+Enter'}
      aria-disabled={wait > 0 || undefined}
      onClick={runAgain}
    >
      {wait > 0 ? `Run again in ${wait} s` : 'Run again'}
    </Button>
  );
}

function keyRemedy({ code, message }: Cause): string {
  if (message.includes(addressRemedy)) return 'Check address';
  return code === 'provider_key_refused' ? 'Replace key' : 'Add key';
}

export interface RunFailureProps {
  failure: Cause;
  run: ShownRun;
  /** Beside other answers: shortened to what the reader compares. */
  isColumn?: boolean;
  actions: RemedyActions;
}

/** A failed run in the place of its answer, with the remedy as a button. */
export function RunFailure({ failure, run, isColumn = false, actions }: RunFailureProps) {
  const [, navigate] = useLocation();
  const served = servingModel(run);
  const { title, reason, remedies } = failureWords(failure, { ...run, ...served });
  const openAccess = () => navigate(accessAddress(served.aiSystem));
  const [failedAt] = useState(Date.now);
  const seconds = failure.error?.retryAfterSeconds;
  const buttons: Record<Exclude<Remedy, 'run-again'>, [label: string, onClick: () => void]> = {
    'set-key': [keyRemedy(failure), openAccess],
    'open-endpoints': ['Open endpoints', openAccess],
    'open-routes': ['Open built-in models', openAccess],
    'pick-model': ['Choose another model', actions.pickModel],
    'install-model': ['Download and run', actions.installModel],
  };
  return (
    <Failure title={title} reason={reason} requestId={isColumn ? undefined : failure.error?.requestId}>
      {remedies.map((remedy, index) => {
        if (remedy === 'run-again') {
          const retryAt = seconds === undefined ? null : failedAt + seconds * 1000;
          return (
            <RunAgain
              key={remedy}
              retryAt={retryAt}
              isFirst={index === 0}
              isColumn={isColumn}
              runAgain={actions.runAgain}
            />
          );
        }
        const [label, onClick] = buttons[remedy];
        return (
          <Button key={remedy} variant={index === 0 ? 'default' : 'quiet'} onClick={onClick}>
            {label}
          </Button>
        );
      })}
    </Failure>
  );
}
