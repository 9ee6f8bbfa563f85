import { Check, CircleX, Square } from 'lucide-react';
import { Icon } from '../../../components/icon.tsx';
import { Spinner } from '../../../components/marks.tsx';
import { completeWords } from '../../../components/run-words.ts';
import { WaitingForAnswer } from '../../../components/waiting-for-answer.tsx';
import type { ShownRun } from './shown-run.ts';

/** The state of the run as icon and word. */
export function RunStateMark({ run }: { run: ShownRun }) {
  if (run.state === 'connecting') return <WaitingForAnswer aiSystem={run.aiSystem} model={run.model} />;
  if (run.state === 'streaming')
    return (
      <span className="row small accent">
        <Spinner />
        Streaming
      </span>
    );
  if (run.state === 'failed')
    return (
      <span className="row small negative">
        <Icon icon={CircleX} size="small" />
        Failed
      </span>
    );
  if (run.state === 'stopped')
    return (
      <span className="row small secondary">
        <Icon icon={Square} size="small" />
        Stopped
      </span>
    );
  return (
    <span className="row small secondary">
      <Icon icon={Check} size="small" />
      {completeWords(run.finishReason)}
    </span>
  );
}
