import { Columns3, Link2, Link2Off, Play, Plus, X } from 'lucide-react';
import { useRef } from 'react';
import { Button } from '../../../components/button.tsx';
import { Segmented } from '../../../components/choices.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { IconButton } from '../../../components/icon-button.tsx';
import { keyShortcut } from '../../../components/key-caps.tsx';
import { Tooltip } from '../../../components/tooltip.tsx';
import { EmptyState } from '../../../components/state-panels.tsx';
import { runAddress } from '../../../shell/addresses.ts';
import { CopyLink } from '../../../shell/copy-link.tsx';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import { CompareColumns } from '../compare/compare-columns.tsx';
import { maxComparedColumns, type Comparison } from '../compare/use-comparison.ts';
import { FirstStart } from '../first-start.tsx';
import type { PlaygroundState } from '../playground-screen.tsx';
import { AnswerBody, type RemedyActions } from './answer-body.tsx';
import { MetricsBar, RunStateMark } from './run-status.tsx';
import { isRatable, RateAnswer, useRatingActions } from './rate-answer.tsx';
import type { ShownRun } from './shown-run.ts';
import './answer.css';

const answerViews = [
  { value: 'markdown', label: 'Markdown' },
  { value: 'plain', label: 'Plain' },
] as const;

/** Another column, whether columns scroll together, and the way back to one answer. */
function CompareButtons({ comparison }: { comparison: Comparison }) {
  const isLinked = usePlaygroundView((view) => view.isScrollLinked);
  const label = comparison.isActive ? 'Add model' : 'Compare models';
  const reason = comparison.canAdd ? undefined : `Up to ${maxComparedColumns + 1} models can be compared`;
  return (
    <>
      <Tooltip text={reason ?? label} keys={comparison.canAdd ? 'Mod+Shift+L' : undefined}>
        <Button
          icon={comparison.isActive ? Plus : Columns3}
          size="small"
          variant="quiet"
          aria-label={label}
          aria-description={reason}
          aria-keyshortcuts={keyShortcut('Mod+Shift+L')}
          aria-disabled={!comparison.canAdd || undefined}
          onClick={() => comparison.add()}
        >
          <span className="answer__label">{label}</span>
        </Button>
      </Tooltip>
      {comparison.isActive && (
        <>
          <IconButton
            icon={isLinked ? Link2 : Link2Off}
            label="Scroll together"
            size="small"
            aria-pressed={isLinked}
            onClick={() => usePlaygroundView.setState({ isScrollLinked: !isLinked })}
          />
          <IconButton icon={X} label="Close comparison" size="small" onClick={comparison.close} />
        </>
      )}
    </>
  );
}

/** The header of the answer: its state, its view, the way to take it along. */
function AnswerHeader({ run, comparison }: { run: ShownRun | null; comparison: Comparison }) {
  const isComparing = comparison.isActive;
  const view = usePlaygroundView(({ answerView }) => answerView);
  return (
    <div className="header header--line">
      <h2>{isComparing ? 'Answers' : 'Answer'}</h2>
      {/* Only the state is read out; the text itself would drown everything else. */}
      <div className="row answer__state" role="status">
        {run && !isComparing && <RunStateMark run={run} />}
      </div>
      <span className="grow" />
      <CompareButtons comparison={comparison} />
      {(run || isComparing) && (
        <>
          <Segmented
            label="Answer view"
            value={view}
            onValueChange={(answerView) => usePlaygroundView.setState({ answerView })}
            options={answerViews}
          />
          {run && !isComparing && (
            <CopyButton text={run.text} label="Copy answer" isIconOnly size="small" disabled={run.text === ''} />
          )}
          {run && !isComparing && run.runId !== null && <CopyLink address={runAddress(run.runId)} size="small" />}
        </>
      )}
    </div>
  );
}

export interface AnswerPanelProps {
  /** Null before the first run of a draft. */
  run: ShownRun | null;
  state: PlaygroundState;
  /** The chosen model is not on this device yet. */
  mustWait: boolean;
  /** A run begins by itself once it is. */
  isWaiting: boolean;
  actions: RemedyActions;
}

/** The answer with its figures; before the first one, the next step. */
export function AnswerPanel({ run, state, mustWait, isWaiting, actions }: AnswerPanelProps) {
  const { comparison } = state;
  const isFirst = !comparison.isActive && (isWaiting || (mustWait && run === null));
  const shown = isFirst ? null : run;
  const single = comparison.isActive ? null : shown;
  const panel = useRef<HTMLElement>(null);
  useRatingActions();
  return (
    <section ref={panel} className="panel play__answer" aria-label="Answer">
      <AnswerHeader run={shown} comparison={comparison} />
      {isFirst && <FirstStart isWaiting={isWaiting} onPickModel={actions.pickModel} />}
      {comparison.isActive && <CompareColumns state={state} />}
      {!isFirst && !comparison.isActive && !run && (
        <div className="answer__none">
          <EmptyState
            title="No answer yet"
            reason="Run the prompt to see the answer here. Every run is kept in the history."
          >
            <Button icon={Play} keys="Mod+Enter" onClick={actions.runAgain}>
              Run
            </Button>
          </EmptyState>
        </div>
      )}
      {single && <AnswerBody run={single} actions={actions} />}
      {single && isRatable(single) && (
        <RateAnswer key={single.runId} conversationId={single.conversationId} runId={single.runId} scope={panel} />
      )}
      {single && <MetricsBar metrics={single.metrics} />}
    </section>
  );
}
