import { type ReactNode, type RefObject, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { Square } from 'lucide-react';
import { addressRemedy } from '../../../../shared/address-safety.ts';
import { Button } from '../../../components/button.tsx';
import { Failure, Notice } from '../../../components/state-panels.tsx';
import { accessAddress, servingModel } from '../../../components/remedies.ts';
import { failureWords, finishMeaning, type Remedy, type RunFailure as Cause } from '../../../components/run-words.ts';
import type { ShownRun } from './shown-run.ts';
import { type ContinueRun, EarlierSteps, OwnCalls } from './tool-steps.tsx';
import { formatRunDuration } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { JsonAnswer } from './json-answer.tsx';
import { LongText } from '../../../components/long-text.tsx';
import { CitationButton, CitedText } from '../../../components/markdown/citation-button.tsx';
import { ReplaceableMarkdown } from '../../../components/markdown/lazy-markdown.tsx';
import { Reasoning } from '../../../components/answer-parts.tsx';
import { useFollowScroll } from '../../../components/use-follow-scroll.ts';
import { isActive } from '../../../stores/run-stream.ts';
import { usePlaygroundView } from '../../../stores/playground-view.ts';

export interface RemedyActions {
  runAgain: () => void;
  /** Whether `runAgain` sends the results of tool calls again, in place of the prompt. */
  isContinuation?: boolean;
  pickModel: () => void;
  installModel: () => void;
}

/** Whole seconds until a moment, down to 0. */
function useSecondsUntil(moment: number | null): number {
  const [now, setNow] = useState(Date.now);
  const left = moment === null ? 0 : Math.max(0, Math.ceil((moment - now) / 1000));
  useEffect(() => {
    if (left === 0) return;
    const timer = setTimeout(() => setNow(Date.now()), 1000);
    return () => clearTimeout(timer);
  }, [left, now]);
  return left;
}

interface RunAgainProps {
  retryAt: number | null;
  isFirst: boolean;
  /** Whether the shortcut does the same. */
  hasKeys: boolean;
  runAgain: () => void;
}

function RunAgain({ retryAt, isFirst, hasKeys, runAgain }: RunAgainProps) {
  const wait = useSecondsUntil(retryAt);
  return (
    <Button
      variant={isFirst ? 'default' : 'quiet'}
      keys={hasKeys ? 'Mod+Enter' : undefined}
      aria-disabled={wait > 0 || undefined}
      onClick={runAgain}
    >
      {wait > 0 ? `Run again in ${wait} s` : 'Run again'}
    </Button>
  );
}

function keyRemedy({ code, message }: Cause): string {
  if (message.includes(addressRemedy)) return 'Check address';
  return code === 'provider_key_refused' ? 'Replace key' : 'Add key';
}

export interface RunFailureProps {
  failure: Cause;
  run: ShownRun;
  /** In a column the failure is shortened to what the reader compares. */
  isColumn?: boolean;
  actions: RemedyActions;
}

/** Shows why a run failed, with its remedies as buttons. */
export function RunFailure({ failure, run, isColumn = false, actions }: RunFailureProps) {
  const [, navigate] = useLocation();
  const served = servingModel(run);
  const { title, reason, remedies } = failureWords(failure, { ...run, ...served });
  const openAccess = () => navigate(accessAddress(served.aiSystem));
  const [failedAt] = useState(Date.now);
  const seconds = failure.error?.retryAfterSeconds;
  const buttons: Record<Exclude<Remedy, 'run-again'>, [label: string, onClick: () => void]> = {
    'set-key': [keyRemedy(failure), openAccess],
    'open-endpoints': ['Open endpoints', openAccess],
    'open-routes': ['Open built-in models', openAccess],
    'pick-model': ['Choose another model', actions.pickModel],
    'install-model': ['Download and run', actions.installModel],
  };
  return (
    <Failure title={title} reason={reason} requestId={isColumn ? undefined : failure.error?.requestId}>
      {remedies.map((remedy, index) => {
        if (remedy === 'run-again') {
          const retryAt = seconds === undefined ? null : failedAt + seconds * 1000;
          return (
            <RunAgain
              key={remedy}
              retryAt={retryAt}
              isFirst={index === 0}
              // The shortcut runs all columns, not this one, and the prompt from its beginning.
              hasKeys={!isColumn && actions.isContinuation !== true}
              runAgain={actions.runAgain}
            />
          );
        }
        const [label, onClick] = buttons[remedy];
        return (
          <Button key={remedy} variant={index === 0 ? 'default' : 'quiet'} onClick={onClick}>
            {label}
          </Button>
        );
      })}
    </Failure>
  );
}

interface AnswerTextProps {
  run: ShownRun;
  scroller: RefObject<HTMLElement | null>;
}

/** An answer that isn't shown as Markdown; null for one that is, and before the first token. */
function otherAnswer({ run, scroller }: AnswerTextProps, isPlain: boolean): ReactNode {
  if (run.text === '') {
    const isEmpty = run.state === 'completed' && run.toolCalls.length === 0;
    const text = run.isAnonymised
      ? 'The retention of this device has removed the texts of this run.'
      : 'The answer is empty.';
    return isEmpty ? <p className="tertiary answer__empty">{text}</p> : null;
  }
  if (isPlain) return <LongText className={run.state === 'streaming' ? 'plain is-growing' : 'plain'} text={run.text} />;
  return run.json === 'none' ? null : <JsonAnswer key={run.key} run={run} scroller={scroller} />;
}

function AnswerText({ run, scroller }: AnswerTextProps) {
  const isPlain = usePlaygroundView(({ answerView }) => answerView === 'plain');
  const other = otherAnswer({ run, scroller }, isPlain);
  return (
    <>
      {other}
      <CitedText citations={run.citations}>
        <ReplaceableMarkdown id={run.key} text={other === null ? run.text : ''} isGrowing={run.state === 'streaming'} />
      </CitedText>
    </>
  );
}

/** The passages that the model received, with links to their sources. */
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

/** Why the calls of an answer get no results; null if they can, or if there are none. */
function uncontinuableReason(run: ShownRun, isColumn: boolean): string | null {
  if (run.toolCalls.length === 0 || isActive(run)) return null;
  const isWhole = run.state === 'completed' && run.finishReason === 'ToolCalls';
  if (!isWhole) return "The tool calls may be incomplete, so the run can't be continued.";
  if (isColumn) return 'Close the comparison to enter the results of the tool calls.';
  return run.agentId === null ? null : 'This run is a turn of an agent. Enter the results in its conversation.';
}

function AfterAnswer({ run, title, actions }: Pick<AnswerBodyProps, 'run' | 'title' | 'actions'>) {
  const meaning = finishMeaning(run.finishReason);
  const reason = uncontinuableReason(run, title !== undefined);
  return (
    <div className="answer__after">
      {meaning && <Notice tone="caution">{meaning}</Notice>}
      {reason !== null && <Notice tone="caution">{reason}</Notice>}
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
            {run.text === '' && run.toolCalls.length === 0 ? 'No output yet.' : 'Partial answer kept.'}
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
  /** Distinguishes answers that are side by side. */
  title?: string;
  actions: RemedyActions;
  /** Absent where answers are side by side: they are compared, not continued. */
  onContinue?: ContinueRun | undefined;
  /** Gets the element that scrolls the text, and returns the function that releases it. */
  onScroller?: ((element: HTMLElement) => () => void) | undefined;
}

/** One run's answer: earlier steps, reasoning, text, tool calls, passages, warnings and failure. */
export function AnswerBody({ run, title, actions, onContinue, onScroller }: AnswerBodyProps) {
  const isReasoningOpen = usePlaygroundView((view) => view.isReasoningOpen);
  const { scroller, onScroll } = useFollowScroll(run.key, isActive(run));
  useEffect(() => {
    const element = scroller.current;
    if (!element || !onScroller) return;
    const release = onScroller(element);
    return () => release();
  }, [onScroller, scroller]);
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
        <EarlierSteps
          request={run.request}
          steps={run.steps}
          onContinue={run.agentId === null ? onContinue : undefined}
        />
        <Reasoning
          text={run.reasoning}
          isLive={run.isReasoningLive}
          tokens={run.metrics.usage?.details?.reasoning_tokens ?? null}
          cost={run.metrics.reasoningCost}
          hasEnded={!isActive(run)}
          isOpen={isReasoningOpen}
          onOpenChange={(isOpen) => usePlaygroundView.setState({ isReasoningOpen: isOpen })}
        />
        <AnswerText run={run} scroller={scroller} />
        <OwnCalls key={run.key} run={run} onContinue={onContinue} />
        <Citations run={run} />
        <AfterAnswer run={run} {...(title !== undefined && { title })} actions={actions} />
      </div>
    </div>
  );
}
