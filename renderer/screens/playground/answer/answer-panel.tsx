import { Play, X } from 'lucide-react';
import { useRef } from 'react';
import { Button } from '../../../components/button.tsx';
import { Segmented } from '../../../components/choices.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { IconButton } from '../../../components/icon-button.tsx';
import { EmptyState } from '../../../components/state-panels.tsx';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import { FirstStart } from '../first-start/first-start.tsx';
import type { Comparison } from '../grounding/use-comparison.ts';
import { AnswerBody } from './answer-body.tsx';
import { MetricsBar } from './metrics-bar.tsx';
import { RateAnswer } from './rate-answer.tsx';
import type { RemedyActions } from './run-failure.tsx';
import { RunStateMark } from './run-state-mark.tsx';
import type { ShownRun } from './shown-run.ts';
import './answer.css';

const answerViews = [
  { value: 'markdown', label: 'Markdown' },
  { value: 'plain', label: 'Plain' },
] as const;

/** The header of the answer: its state, its view, the way to take it along. */
function AnswerHeader({ run }: { run: ShownRun | null }) {
  const view = usePlaygroundView(({ answerView }) => answerView);
  return (
    <div className="header header--line">
      <h2>Answer</h2>
      {/* Only the state is read out; the text itself would drown everything else. */}
      <div className="row answer__state" role="status">
        {run && <RunStateMark run={run} />}
      </div>
      <span className="grow" />
      {run && (
        <>
          <Segmented
            label="Answer view"
            value={view}
            onValueChange={(answerView) => usePlaygroundView.setState({ answerView })}
            options={answerViews}
          />
          <CopyButton text={run.text} label="Copy answer" isIconOnly size="small" disabled={run.text === ''} />
        </>
      )}
    </div>
  );
}

/** The draft's run and one that differs from it in one thing. */
function Pair({
  run,
  beside,
  actions,
}: {
  run: ShownRun;
  beside: Comparison & { run: ShownRun };
  actions: RemedyActions;
}) {
  return (
    <div className="answer__pair">
      <section className="panel" aria-label="As the prompt stands">
        <div className="header">
          <h3>As the prompt stands</h3>
        </div>
        <AnswerBody run={run} title="As the prompt stands" actions={actions} />
        <MetricsBar metrics={run.metrics} />
      </section>
      <section className="panel" aria-label={beside.title}>
        <div className="header">
          <h3 className="truncate">{beside.title}</h3>
          <div className="row answer__state" role="status">
            <RunStateMark run={beside.run} />
          </div>
          <span className="grow" />
          <IconButton icon={X} label="Close the run beside" size="small" onClick={beside.close} />
        </div>
        <AnswerBody run={beside.run} title={beside.title} actions={actions} />
        <MetricsBar metrics={beside.run.metrics} />
      </section>
    </div>
  );
}

export interface AnswerPanelProps {
  /** Null before the first run of a draft. */
  run: ShownRun | null;
  beside: Comparison;
  /** The chosen model is not on this device yet. */
  mustWait: boolean;
  /** A run begins by itself once it is. */
  isWaiting: boolean;
  actions: RemedyActions;
}

/** The answer with its figures; before the first one, the next step. */
export function AnswerPanel({ run, beside, mustWait, isWaiting, actions }: AnswerPanelProps) {
  const isFirst = isWaiting || (mustWait && run === null);
  const shown = isFirst ? null : run;
  const panel = useRef<HTMLElement>(null);
  return (
    <section ref={panel} className="panel play__answer" aria-label="Answer">
      <AnswerHeader run={shown} />
      {isFirst && <FirstStart isWaiting={isWaiting} onPickModel={actions.pickModel} />}
      {!isFirst && !run && (
        <div className="answer__none">
          <EmptyState
            title="No answer yet"
            reason="Run the prompt, and the answer streams in here. Every run is kept in the history."
          >
            <Button icon={Play} keys="Mod+Enter" onClick={actions.runAgain}>
              Run
            </Button>
          </EmptyState>
        </div>
      )}
      {shown && beside.run && <Pair run={shown} beside={{ ...beside, run: beside.run }} actions={actions} />}
      {shown && !beside.run && <AnswerBody run={shown} actions={actions} />}
      {shown && !beside.run && shown.runId !== null && shown.conversationId !== null && (
        <RateAnswer key={shown.runId} conversationId={shown.conversationId} runId={shown.runId} scope={panel} />
      )}
      {shown && !beside.run && <MetricsBar metrics={shown.metrics} />}
    </section>
  );
}
