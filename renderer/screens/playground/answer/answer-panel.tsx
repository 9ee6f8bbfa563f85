import { Columns3, Link2, Link2Off, Play, Plus, X } from 'lucide-react';
import { memo, type RefObject, useRef } from 'react';
import { Button, CopyButton, IconButton, Tooltip } from '../../../components/button.tsx';
import { Segmented } from '../../../components/choices.tsx';
import { keyShortcut } from '../../../components/key-caps.tsx';
import { EmptyState } from '../../../components/state-panels.tsx';
import { runAddress } from '../../../shell/addresses.ts';
import { useRunsById } from '../../../queries/runs.ts';
import { CopyLink } from '../../../shell/links.tsx';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import { CompareColumns } from '../compare/compare-columns.tsx';
import { maxComparedColumns } from '../compare/use-comparison.ts';
import { FirstStart } from '../first-start.tsx';
import { useComparison, useOpenParts, useRunControls } from '../session/playground-session.tsx';
import { useAnswer, useReadText } from '../session/use-runner.ts';
import { AnswerBody, type RemedyActions } from './answer-body.tsx';
import { MetricsBar, RunStateBadge } from './run-status.tsx';
import { isRatable, RateAnswer, useAnswerActions } from './rate-answer.tsx';
import { isSameButLonger, type ShownRun, withEarlierSteps } from './shown-run.ts';
import './answer.css';

const answerViews = [
  { value: 'markdown', label: 'Markdown' },
  { value: 'plain', label: 'Plain' },
] as const;

/** JSON has no Markdown; its formatted view is a tree. */
const jsonViews = [
  { value: 'markdown', label: 'Tree' },
  { value: 'plain', label: 'Plain' },
] as const;

/** Buttons to add a column, to link scrolling, and to close the comparison. */
function CompareButtons() {
  const comparison = useComparison();
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

interface AnswerHeaderProps {
  /** Its text may be older than what is on the screen. */
  run: ShownRun | null;
  readText: () => string;
}

/** The header of the answer: its state, its view, and buttons to copy it. Without a run while answers are compared. */
const AnswerHeader = memo(
  function AnswerHeader({ run, readText }: AnswerHeaderProps) {
    const { isActive: isComparing } = useComparison();
    const view = usePlaygroundView(({ answerView }) => answerView);
    return (
      <div className="header header--line">
        <h2>{isComparing ? 'Answers' : 'Answer'}</h2>
        {/* Screen readers announce only the state: the text would drown everything else. */}
        <div className="row answer__state" role="status">
          {run && <RunStateBadge run={run} />}
        </div>
        <span className="grow" />
        <CompareButtons />
        {(run || isComparing) && (
          <>
            <Segmented
              label="Answer view"
              value={view}
              onValueChange={(answerView) => usePlaygroundView.setState({ answerView })}
              options={run && run.json !== 'none' ? jsonViews : answerViews}
            />
            {run && (
              <CopyButton text={readText} label="Copy answer" isIconOnly size="small" disabled={run.text === ''} />
            )}
            {run && run.runId !== null && <CopyLink address={runAddress(run.runId)} size="small" />}
          </>
        )}
      </div>
    );
  },
  (before, after) => before.readText === after.readText && isSameButLonger(before.run, after.run),
);

const noText = () => '';

/** What the remedies of a failure do in the open draft. A failed continuation is sent again, not the prompt. */
function useRemedies(shown: ShownRun | null): RemedyActions {
  const { run, continueRun } = useRunControls();
  const { open } = useOpenParts();
  const canContinue = shown !== null && shown.steps.length > 0 && shown.steps.at(-1)?.runId !== null;
  return {
    runAgain: canContinue ? () => continueRun(shown.request, shown.steps) : run,
    isContinuation: canContinue,
    pickModel: () => open('model-picker'),
    installModel: run,
  };
}

/** The metrics of a run with those of the steps before it. */
function StepMetrics({ run: { steps, metrics } }: { run: ShownRun }) {
  const earlier = useRunsById(steps.flatMap(({ runId }) => runId ?? []));
  // A step whose run is unknown or removed has no metrics, and a sum without it would be wrong.
  if (earlier.length < steps.length) return <MetricsBar metrics={metrics} />;
  return <MetricsBar metrics={withEarlierSteps(metrics, earlier)} newest={{ steps: steps.length + 1, metrics }} />;
}

/** The open draft's answer with its metrics. Before the first one: the next step. */
function SingleAnswer({ panel }: { panel: RefObject<HTMLElement | null> }) {
  const run = useAnswer();
  const { isWaiting, mustWait, continueRun } = useRunControls();
  const actions = useRemedies(run);
  const isFirst = isWaiting || (mustWait && run === null);
  const shown = isFirst ? null : run;
  const readText = useReadText(run);
  useAnswerActions(run);
  return (
    <>
      <AnswerHeader run={shown} readText={readText} />
      {isFirst && <FirstStart isWaiting={isWaiting} onPickModel={actions.pickModel} />}
      {!isFirst && !run && (
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
      {shown && <AnswerBody run={shown} actions={actions} onContinue={continueRun} />}
      {shown && isRatable(shown) && (
        <RateAnswer key={shown.runId} conversationId={shown.conversationId} runId={shown.runId} scope={panel} />
      )}
      {shown && (shown.steps.length > 0 ? <StepMetrics run={shown} /> : <MetricsBar metrics={shown.metrics} />)}
    </>
  );
}

/** The answer, or the answers of the models that are compared. */
export function AnswerPanel() {
  const { isActive } = useComparison();
  const panel = useRef<HTMLElement>(null);
  return (
    <section ref={panel} className="panel play__answer" aria-label="Answer">
      {isActive ? (
        <>
          <AnswerHeader run={null} readText={noText} />
          <CompareColumns />
        </>
      ) : (
        <SingleAnswer panel={panel} />
      )}
    </section>
  );
}
