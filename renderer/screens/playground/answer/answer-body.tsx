import { Square } from 'lucide-react';
import { Button } from '../../../components/button.tsx';
import { formatRunDuration } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { CitationButton, CitedText } from '../../../components/markdown/citation-button.tsx';
import { MarkdownView } from '../../../components/markdown/markdown-view.tsx';
import { Reasoning } from '../../../components/reasoning.tsx';
import { finishMeaning } from '../../../components/run-words.ts';
import { Notice } from '../../../components/state-panels.tsx';
import { useFollowScroll } from '../../../components/use-follow-scroll.ts';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import { RunFailure, type RemedyActions } from './run-failure.tsx';
import type { ShownRun } from './shown-run.ts';

function AnswerText({ run }: { run: ShownRun }) {
  const view = usePlaygroundView(({ answerView }) => answerView);
  const isGrowing = run.state === 'streaming';
  if (run.text === '') {
    return run.state === 'completed' ? <p className="tertiary answer__empty">The answer is empty.</p> : null;
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
    <section className="citations" aria-label="Passages used">
      <h3 className="caption tertiary">Passages used</h3>
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

function AfterAnswer({ run, title, actions }: AnswerBodyProps) {
  const meaning = finishMeaning(run.finishReason);
  return (
    <div className="answer__after">
      {meaning && <Notice tone="caution">{meaning}</Notice>}
      {run.warnings.map(({ message }) => (
        <Notice key={message} tone="caution">
          {message}
        </Notice>
      ))}
      {run.failure && (
        <RunFailure key={run.key} failure={run.failure} run={run} isColumn={title !== undefined} actions={actions} />
      )}
      {run.state === 'stopped' && (
        <div className="row small secondary answer__stopped">
          <Icon icon={Square} size="small" />
          <span>
            Stopped{run.metrics.totalMs === null ? '' : ` after ${formatRunDuration(run.metrics.totalMs)}`}.{' '}
            {run.text === '' ? 'No output yet.' : 'Partial answer kept.'}
          </span>
          <Button size="small" onClick={actions.runAgain}>
            Run again
          </Button>
        </div>
      )}
    </div>
  );
}

interface AnswerBodyProps {
  run: ShownRun;
  /** Tells two answers apart where they stand side by side. */
  title?: string;
  actions: RemedyActions;
}

/** One run's answer: reasoning, text, what there is to say about it. */
export function AnswerBody({ run, title, actions }: AnswerBodyProps) {
  const isReasoningOpen = usePlaygroundView((view) => view.isReasoningOpen);
  const { scroller, onScroll } = useFollowScroll(run.key, run.state === 'connecting' || run.state === 'streaming');
  return (
    <div
      ref={scroller}
      className="play__stream scroll"
      tabIndex={0}
      role="region"
      aria-label={title === undefined ? 'Answer text' : `Answer text, ${title}`}
      onScroll={onScroll}
    >
      <div>
        <Reasoning
          text={run.reasoning}
          isLive={run.isReasoningLive}
          isOpen={isReasoningOpen}
          onOpenChange={(isOpen) => usePlaygroundView.setState({ isReasoningOpen: isOpen })}
        />
        <AnswerText run={run} />
        <Citations run={run} />
        <AfterAnswer run={run} {...(title !== undefined && { title })} actions={actions} />
      </div>
    </div>
  );
}
