import { Play, Square } from 'lucide-react';
import { Button } from '../../components/button.tsx';
import { Spinner } from '../../components/marks.tsx';
import type { Runner } from './session/use-session.ts';

/** Run, Download and run, or Stop: one place for the hand, one width. */
export function RunButton({ runner, mustWait }: { runner: Runner; mustWait: boolean }) {
  if (runner.isUnderWay) {
    return (
      <Button icon={Square} keys="Escape" className="play__run" onClick={runner.stop}>
        Stop
      </Button>
    );
  }
  if (runner.isWaiting) {
    return (
      <>
        <span className="row small accent nowrap" role="status">
          <Spinner />
          Queued until the model is ready
        </span>
        <Button icon={Square} keys="Escape" className="play__run" onClick={runner.stop}>
          Cancel run
        </Button>
      </>
    );
  }
  return (
    <Button variant="primary" icon={Play} keys="Mod+Enter" className="play__run" onClick={runner.run}>
      {mustWait ? 'Download and run' : 'Run'}
    </Button>
  );
}
