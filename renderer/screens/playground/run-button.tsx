import { Play, Square } from 'lucide-react';
import { Button } from '../../components/button.tsx';
import { Spinner } from '../../components/marks.tsx';
import type { Runner } from './session/use-session.ts';

/** Run, Run when ready, or Stop: one place for the hand, one width. */
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
          Runs when the model is here
        </span>
        <Button icon={Square} keys="Escape" className="play__run" onClick={runner.stop}>
          Take back
        </Button>
      </>
    );
  }
  return (
    <Button variant="primary" icon={Play} keys="Mod+Enter" className="play__run" onClick={runner.run}>
      {mustWait ? 'Run when ready' : 'Run'}
    </Button>
  );
}
