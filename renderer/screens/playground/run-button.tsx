import { Play, Square } from 'lucide-react';
import { Button } from '../../components/button.tsx';
import { Spinner } from '../../components/marks.tsx';
import type { Runner } from './session/use-session.ts';

function buttonState({ runner, mustWait }: { runner: Runner; mustWait: boolean }) {
  if (runner.isUnderWay) return { isRunning: true, text: 'Stop' };
  if (runner.isWaiting) return { isRunning: true, text: 'Cancel run' };
  return { isRunning: false, text: mustWait ? 'Download and run' : 'Run' };
}

/** Run, Download and run, or Stop. One element in all states, so that the focus stays on it when a run starts or finishes. */
export function RunButton(props: { runner: Runner; mustWait: boolean }) {
  const { runner } = props;
  const { isRunning, text } = buttonState(props);
  return (
    <>
      {runner.isWaiting && !runner.isUnderWay && (
        <span className="row small accent nowrap" role="status">
          <Spinner />
          Queued until the model is ready
        </span>
      )}
      <Button
        variant={isRunning ? 'default' : 'primary'}
        icon={isRunning ? Square : Play}
        keys={isRunning ? 'Escape' : 'Mod+Enter'}
        className="play__run"
        onClick={isRunning ? runner.stop : runner.run}
      >
        {text}
      </Button>
    </>
  );
}
