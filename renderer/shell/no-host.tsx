import { AppError } from '../../shared/app-error.ts';
import { Button } from '../components/button.tsx';
import { Failure, describeError } from '../components/state-panels.tsx';

/** In place of the window while its host cannot be reached or does not know this browser. */
export function NoHost({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const isUnknown = error instanceof AppError && (error.code === 'unauthorized' || error.code === 'forbidden');
  const { message, requestId } = describeError(error);
  return (
    <main className="boundary">
      <Failure
        title={isUnknown ? 'This browser is not signed in to Touchstone' : "Can't connect to Touchstone"}
        reason={isUnknown ? 'Open the address that Touchstone printed in the terminal when it started.' : message}
        requestId={requestId}
      >
        <Button onClick={onRetry}>Retry</Button>
      </Failure>
    </main>
  );
}
