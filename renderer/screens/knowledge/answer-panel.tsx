import { CircleAlert, FileSearch, RotateCcw, Square } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import type { Citation } from '../../../shared/contract/completions.ts';
import { weakRelevance } from '../../../shared/contract/grounding.ts';
import { Button, CopyButton } from '../../components/button.tsx';
import { formatPlural } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { CitedText } from '../../components/markdown/citation-button.tsx';
import { MarkdownView } from '../../components/markdown/markdown-view.tsx';
import { Spinner } from '../../components/badges.tsx';
import { accessAddress, servingModel } from '../../components/remedies.ts';
import { failureWords, finishMeaning, type Remedy } from '../../components/run-words.ts';
import { Failure, Notice } from '../../components/state-panels.tsx';
import { useFollowScroll } from '../../components/use-follow-scroll.ts';
import { WaitingForAnswer } from '../../components/answer-parts.tsx';
import { settingsAddress } from '../../shell/addresses.ts';
import { auditAddress } from '../../shell/audit-address.ts';
import { useActions } from '../../stores/actions.ts';
import { questionOf } from '../../stores/knowledge.ts';
import type { CompletionRun } from '../../stores/live-runs.ts';
import { isActive } from '../../stores/run-stream.ts';
import { PassageResult, type OpenPassage } from './search-results.tsx';

interface AnswerPanelProps {
  run: CompletionRun;
  open: OpenPassage | null;
  onAskAgain: () => void;
  onPickModel: () => void;
  onStop: () => void;
  onEnd: () => void;
}

function AnswerFailure({ run, onAskAgain, onPickModel }: Pick<AnswerPanelProps, 'run' | 'onAskAgain' | 'onPickModel'>) {
  const [, navigate] = useLocation();
  if (!run.error) return null;
  const { code, message } = run.error;
  const { aiSystem, model } = servingModel({ ...run.request, servedBy: run.servedBy });
  const openAccess = () => navigate(accessAddress(aiSystem));
  const { title, reason, remedies } = failureWords(
    { code, message, error: run.error },
    { aiSystem, model, text: run.text },
  );
  const buttons: Record<Remedy, [label: string, onClick: () => void]> = {
    'run-again': ['Regenerate', onAskAgain],
    'pick-model': ['Choose another model', onPickModel],
    'set-key': ['Add key', openAccess],
    'open-endpoints': ['Open endpoints', openAccess],
    'open-routes': ['Open built-in models', openAccess],
    'install-model': ['Open on-device models', () => navigate(settingsAddress('on-device'))],
  };
  return (
    <div className="knowledge__answer-failure">
      <Failure title={title} reason={reason} requestId={run.error.requestId}>
        {remedies.map((remedy) => {
          const [label, onClick] = buttons[remedy];
          return (
            <Button key={remedy} onClick={onClick}>
              {label}
            </Button>
          );
        })}
      </Failure>
    </div>
  );
}

/** Limits of a complete answer that a reader should know. */
function Cautions({ run }: { run: CompletionRun }) {
  const meaning = finishMeaning(run.finishReason);
  const best = Math.max(0, ...run.citations.map(({ relevance }) => relevance));
  const isAnswered = run.state === 'completed';
  return (
    <>
      {isAnswered && run.citations.length === 0 && (
        <Notice tone="caution">No relevant passages found. The prompt tells the model to say so.</Notice>
      )}
      {isAnswered && run.citations.length > 0 && best < weakRelevance && (
        <Notice tone="caution">
          The passages match the question only weakly. Check the answer against them, or rephrase the question.
        </Notice>
      )}
      {meaning && <Notice tone="caution">{meaning}</Notice>}
      {run.warnings.map(({ message }) => (
        <Notice key={message} tone="caution">
          {message}
        </Notice>
      ))}
    </>
  );
}

function AnswerState({ run, onStop }: Pick<AnswerPanelProps, 'run' | 'onStop'>) {
  if (isActive(run)) {
    return (
      <>
        <span role="status">
          {run.text === '' ? (
            <WaitingForAnswer aiSystem={run.request.aiSystem} model={run.request.model} />
          ) : (
            <span className="row small accent nowrap">
              <Spinner />
              Streaming
            </span>
          )}
        </span>
        <span className="grow" />
        <Button size="small" icon={Square} onClick={onStop}>
          Stop
        </Button>
      </>
    );
  }
  if (run.state !== 'stopped') return <span className="grow" />;
  return (
    <span className="row caption secondary grow">
      <Icon icon={CircleAlert} size="small" />
      {run.text === '' ? 'Stopped. No output yet.' : 'Stopped. Partial answer kept.'}
    </span>
  );
}

function Sources({
  citations,
  question,
  open,
}: {
  citations: readonly Citation[];
  question: string;
  open: OpenPassage | null;
}) {
  if (citations.length === 0) return null;
  return (
    <>
      <h3 className="caption tertiary knowledge__cited">{formatPlural(citations.length, 'passage')} used</h3>
      <ol aria-label="Passages used">
        {citations.map((citation) => (
          <PassageResult key={citation.index} citation={citation} query={question} open={open} isNumbered />
        ))}
      </ol>
    </>
  );
}

function Foot({ run, onAskAgain }: Pick<AnswerPanelProps, 'run' | 'onAskAgain'>) {
  return (
    <div className="row knowledge__answer-foot">
      {/* An error shows its own button. */}
      {!run.error && (
        <Button size="small" icon={RotateCcw} onClick={onAskAgain}>
          Regenerate
        </Button>
      )}
      {run.text !== '' && <CopyButton text={run.text} label="Copy answer" isIconOnly size="small" />}
      <span className="grow" />
      {run.runId !== null && run.conversationId !== null && (
        <Link
          href={auditAddress({ filter: {}, sort: 'newest', conversationId: run.conversationId, runId: run.runId })}
          className="link row small nowrap"
        >
          <Icon icon={FileSearch} size="small" />
          Open in audit
        </Link>
      )}
    </div>
  );
}

/** A question to a dataspace with its answer and passages. */
export function AnswerPanel({ run, open, onAskAgain, onPickModel, onStop, onEnd }: AnswerPanelProps) {
  const question = questionOf(run.request);
  const isRunning = isActive(run);
  const { scroller, onScroll } = useFollowScroll(run.key, isRunning);
  useActions('knowledge.answer', [
    {
      id: 'knowledge.answer.end',
      title: isRunning ? 'Stop the answer' : 'Back to sources',
      group: 'Knowledge',
      keys: 'Escape',
      run: isRunning ? onStop : onEnd,
    },
  ]);
  return (
    <>
      <div className="header line-bottom knowledge__head">
        <h2>Answer</h2>
        <AnswerState run={run} onStop={onStop} />
        <Button size="small" variant="quiet" onClick={onEnd}>
          Sources
        </Button>
      </div>
      <div
        ref={scroller}
        className="scroll knowledge__answer"
        tabIndex={0}
        role="region"
        aria-label="Answer text"
        onScroll={onScroll}
      >
        <div>
          <div className="knowledge__answer-text">
            <p className="strong">{question}</p>
            <p className="caption tertiary">{run.request.model}</p>
            {run.text !== '' && (
              <CitedText citations={run.citations}>
                <MarkdownView key={run.key} text={run.text} isGrowing={run.state === 'streaming'} />
              </CitedText>
            )}
            {run.state === 'completed' && run.text === '' && <p className="tertiary">The model returned no text.</p>}
            <Cautions run={run} />
          </div>
          <AnswerFailure run={run} onAskAgain={onAskAgain} onPickModel={onPickModel} />
          {!isRunning && <Foot run={run} onAskAgain={onAskAgain} />}
          <Sources citations={run.citations} question={question} open={open} />
        </div>
      </div>
    </>
  );
}
