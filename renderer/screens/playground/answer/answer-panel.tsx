import './answer.css';
import { Check, ChevronDown, ChevronRight, CircleX, Play, Square, X } from 'lucide-react';
import { Button } from '../../../components/button.tsx';
import { Segmented } from '../../../components/choices.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { IconButton } from '../../../components/icon-button.tsx';
import { Spinner } from '../../../components/marks.tsx';
import { EmptyState, Notice } from '../../../components/state-panels.tsx';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import { durationText, estimateTokens } from '../format.ts';
import type { Comparison } from '../grounding/use-comparison.ts';
import { FirstStart } from '../first-start/first-start.tsx';
import { CitationButton, CitedText } from '../../../components/markdown/citation-button.tsx';
import { MarkdownView } from '../../../components/markdown/markdown-view.tsx';
import { MetricsBar } from './metrics-bar.tsx';
import { RunFailure } from './run-failure.tsx';
import type { RemedyActions } from './run-failure.tsx';
import { finishMeaning } from '../../../components/run-words.ts';
import type { ShownRun } from './shown-run.ts';
import { useFollowScroll } from '../../../components/use-follow-scroll.ts';

const answerViews = [
  { value: 'markdown', label: 'Markdown' },
  { value: 'plain', label: 'Plain' },
] as const;

/** The state of the run as icon and word. */
function RunStateMark({ run }: { run: ShownRun }) {
  if (run.state === 'connecting')
    return (
      <span className="row small accent">
        <Spinner />
        Waiting for the first token
      </span>
    );
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
      Finished
      {run.finishReason && <span className="caption tertiary wide-only">finish_reason {run.finishReason}</span>}
    </span>
  );
}

/** What the model thought before it answered; folded, because the answer is what one came for. */
function Reasoning({ run }: { run: ShownRun }) {
  const isOpen = usePlaygroundView((view) => view.isReasoningOpen);
  if (run.reasoning === '') return null;
  return (
    <section aria-label="Reasoning">
      <button
        type="button"
        className="fold"
        aria-expanded={isOpen}
        onClick={() => usePlaygroundView.setState({ isReasoningOpen: !isOpen })}
      >
        <Icon icon={isOpen ? ChevronDown : ChevronRight} size="small" />
        Reasoning
        <span className="tertiary">about {estimateTokens(run.reasoning).toLocaleString('en')} tokens</span>
        {run.isReasoningLive && <Spinner />}
      </button>
      {isOpen && <p className="reasoning">{run.reasoning}</p>}
    </section>
  );
}

function AnswerText({ run }: { run: ShownRun }) {
  const view = usePlaygroundView(({ answerView }) => answerView);
  const isGrowing = run.state === 'streaming';
  if (run.text === '') {
    return run.state === 'completed' ? (
      <p className="tertiary answer__empty">The model answered with no text.</p>
    ) : null;
  }
  if (view === 'plain') return <pre className={isGrowing ? 'plain is-growing' : 'plain'}>{run.text}</pre>;
  return (
    <CitedText citations={run.citations}>
      <MarkdownView key={run.key} text={run.text} isGrowing={isGrowing} />
    </CitedText>
  );
}

/** The passages that the model was given, each to be read in its place. */
function Citations({ run }: { run: ShownRun }) {
  if (run.citations.length === 0) return null;
  return (
    <section className="citations" aria-label="Passages given to the model">
      <h3 className="caption tertiary">Passages given to the model</h3>
      <ol>
        {run.citations.map((citation) => (
          <li key={citation.index} className="row small">
            <CitationButton citation={citation} />
            <span className="truncate">{citation.sourceName}</span>
            {citation.page !== undefined && <span className="caption tertiary nowrap">page {citation.page}</span>}
            <span className="grow" />
            <span className="caption tertiary numbers nowrap">{Math.round(citation.relevance * 100)} %</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function AfterAnswer({ run, actions }: { run: ShownRun; actions: RemedyActions }) {
  const meaning = finishMeaning(run.finishReason);
  return (
    <div className="answer__after">
      {meaning && <Notice tone="caution">{meaning}</Notice>}
      {run.warnings.map(({ message }) => (
        <Notice key={message} tone="caution">
          {message}
        </Notice>
      ))}
      {run.failure && <RunFailure key={run.key} failure={run.failure} run={run} actions={actions} />}
      {run.state === 'stopped' && (
        <div className="row small secondary answer__stopped">
          <Icon icon={Square} size="small" />
          <span>
            Stopped{run.metrics.totalMs === null ? '' : ` after ${durationText(run.metrics.totalMs)}`}.{' '}
            {run.text === '' ? 'Nothing had come yet.' : 'The text is kept.'}
          </span>
          <Button size="small" onClick={actions.runAgain}>
            Run again
          </Button>
        </div>
      )}
    </div>
  );
}

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

/** One run's answer: reasoning, text, what there is to say about it. */
function AnswerBody({ run, actions }: { run: ShownRun; actions: RemedyActions }) {
  const { scroller, onScroll } = useFollowScroll(run.key, run.state === 'connecting' || run.state === 'streaming');
  return (
    <div
      ref={scroller}
      className="play__stream scroll"
      tabIndex={0}
      role="region"
      aria-label="Text of the answer"
      onScroll={onScroll}
    >
      <div>
        <Reasoning run={run} />
        <AnswerText run={run} />
        <Citations run={run} />
        <AfterAnswer run={run} actions={actions} />
      </div>
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
        <AnswerBody run={run} actions={actions} />
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
        <AnswerBody run={beside.run} actions={actions} />
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
  return (
    <section className="panel play__answer" aria-label="Answer">
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
      {shown && !beside.run && <MetricsBar metrics={shown.metrics} />}
    </section>
  );
}
