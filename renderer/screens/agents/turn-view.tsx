import { Check, ChevronLeft, ChevronRight, CircleX, FileSearch, Pencil, RotateCcw, Square } from 'lucide-react';
import { memo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Agent } from '../../../shared/contract/agents.ts';
import type { ToolCall, ToolResult } from '../../../shared/contract/tools.ts';
import { Button, CopyButton, IconButton } from '../../components/button.tsx';
import { formatRunDuration, formatTime, usageText } from '../../components/format.ts';
import { accessAddress } from '../../components/remedies.ts';
import { Reasoning, WaitingForAnswer } from '../../components/answer-parts.tsx';
import { Icon } from '../../components/icon.tsx';
import { Spinner } from '../../components/badges.tsx';
import { Failure, Notice } from '../../components/state-panels.tsx';
import { agentAddress, editAgentAddress, settingsAddress } from '../../shell/addresses.ts';
import { auditAddress } from '../../shell/audit-address.ts';
import { failureWords, finishMeaning, type Remedy } from '../../components/run-words.ts';
import { CitedText } from '../../components/markdown/citation-button.tsx';
import { MarkdownView } from '../../components/markdown/markdown-view.tsx';
import { CallList } from '../../components/tool-calls/call-list.tsx';
import { CallStep } from '../../components/tool-calls/call-step.tsx';
import { useMockResults } from '../../components/tool-calls/automatic-results.ts';
import { TurnStepFoot } from '../../components/tool-calls/step-foot.tsx';
import { useAgentMocks } from '../../stores/agents.ts';
import { isActive } from '../../stores/run-stream.ts';
import { historyText, branchesOf, type ShownTurn } from './use-conversation.ts';

export interface TurnViewProps {
  agent: Agent;
  turn: ShownTurn;
  /** Null before the host has named the conversation. */
  conversationId: string | null;
  /** Sends the same message again; null for all but the last turn. */
  onRetry: (() => void) | null;
  /** Continues the turn with the results of its calls; null if it can't be. */
  onResults: ((turn: ShownTurn, results: readonly ToolResult[]) => void) | null;
  /** Whether a completed turn has continued this one. */
  isAnswered: boolean;
  /** Null while the agent answers, and for turns without a run. */
  editing: { isOpen: boolean; onSend: (turn: ShownTurn, text: string) => void; onClose: () => void } | null;
}

function State({ state, agent }: Pick<ShownTurn, 'state'> & Pick<TurnViewProps, 'agent'>) {
  if (state === 'connecting') return <WaitingForAnswer aiSystem={agent.aiSystem} model={agent.model} />;
  if (state === 'streaming') {
    return (
      <span className="row accent nowrap">
        <Spinner />
        Streaming
      </span>
    );
  }
  const icons = { failed: [CircleX, 'Failed'], stopped: [Square, 'Stopped'], completed: [Check, 'Complete'] } as const;
  const [icon, word] = icons[state];
  return (
    <span className={state === 'failed' ? 'row nowrap negative' : 'row nowrap secondary'}>
      <Icon icon={icon} size="small" />
      {word}
    </span>
  );
}

function TurnFailure({ agent, turn, conversationId, onRetry }: TurnViewProps) {
  const [, navigate] = useLocation();
  if (!turn.failure) return null;
  const run = { aiSystem: turn.aiSystem ?? agent.aiSystem, model: turn.model ?? agent.model, text: turn.text };
  const { title, reason, remedies } = failureWords({ ...turn.failure, error: null }, run);
  const ways: Record<Exclude<Remedy, 'run-again'>, [label: string, address: string]> = {
    'set-key': ['Open providers', accessAddress(run.aiSystem)],
    'open-endpoints': ['Open endpoints', accessAddress(run.aiSystem)],
    'open-routes': ['Open built-in models', accessAddress(run.aiSystem)],
    'pick-model': ['Choose another model', editAgentAddress(agent.id, conversationId)],
    'install-model': ['Open on-device models', settingsAddress('on-device')],
  };
  return (
    <Failure title={title} reason={reason} requestId={turn.failure.requestId}>
      {remedies.map((remedy) => {
        if (remedy === 'run-again') {
          return (
            onRetry && (
              <Button key={remedy} onClick={onRetry}>
                Send again
              </Button>
            )
          );
        }
        const [label, address] = ways[remedy];
        return (
          <Button key={remedy} onClick={() => navigate(address)}>
            {label}
          </Button>
        );
      })}
    </Failure>
  );
}

/** State, metrics and actions of a turn. */
function TurnFoot({ agent, turn, conversationId, onRetry }: TurnViewProps) {
  const memory = turn.memory && historyText(turn.memory);
  const usage = usageText(turn.usage, turn.cost);
  const currentId = turn.conversationId ?? conversationId;
  return (
    <div className="agent-turn__foot row caption tertiary">
      <State state={turn.state} agent={agent} />
      {turn.model !== null && <span className="truncate">{turn.model}</span>}
      {turn.totalMs !== null && <span className="numbers nowrap">{formatRunDuration(turn.totalMs)}</span>}
      {usage !== null && <span className="numbers">{usage}</span>}
      {memory !== null && <span className="nowrap">{memory}</span>}
      <span className="agent-turn__actions row">
        {turn.text !== '' && <CopyButton text={turn.text} label="Copy answer" isIconOnly size="small" />}
        {!isActive(turn) && onRetry && turn.failure === null && (
          <Button size="small" variant="quiet" icon={RotateCcw} onClick={onRetry}>
            {turn.state === 'stopped' ? 'Send again' : 'Regenerate'}
          </Button>
        )}
        {turn.runId !== null && currentId !== null && !isActive(turn) && (
          <Link
            href={auditAddress({ filter: {}, sort: 'newest', conversationId: currentId, runId: turn.runId })}
            className="link row nowrap"
          >
            <Icon icon={FileSearch} size="small" />
            Open in audit
          </Link>
        )}
      </span>
    </div>
  );
}

/** Which branch is shown, and buttons for the others. */
function Branches({ agent, turn }: Pick<TurnViewProps, 'agent' | 'turn'>) {
  const [, navigate] = useLocation();
  const branches = branchesOf(turn);
  if (branches === null) return null;
  const go = (conversationId: string | null) => conversationId && navigate(agentAddress(agent.id, conversationId));
  return (
    <span className="agent-turn__ways row" role="group" aria-label="Branches">
      <IconButton
        icon={ChevronLeft}
        size="small"
        label="Previous branch"
        aria-disabled={branches.previous === null || undefined}
        onClick={() => go(branches.previous)}
      />
      <span className="caption numbers">
        {branches.number} of {branches.count}
      </span>
      <IconButton
        icon={ChevronRight}
        size="small"
        label="Next branch"
        aria-disabled={branches.next === null || undefined}
        onClick={() => go(branches.next)}
      />
    </span>
  );
}

interface MessageEditorProps {
  message: string;
  text: string;
  onText: (text: string) => void;
  onSend: () => void;
  onCancel: () => void;
}

function MessageEditor({ message, text, onText, onSend, onCancel }: MessageEditorProps) {
  const send = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    if (text.trim() !== '') onSend();
  };
  return (
    <form className="agent-turn__message" aria-label="Edit message" onSubmit={send}>
      <div className="field field--area">
        <textarea
          autoFocus
          rows={3}
          aria-label="Message"
          value={text}
          onFocus={({ currentTarget }) => currentTarget.setSelectionRange(message.length, message.length)}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') {
              event.stopPropagation();
              onCancel();
            }
            if (event.key === 'Enter' && !event.shiftKey) send(event);
          }}
        />
      </div>
      <div className="row">
        <span className="caption tertiary grow">Creates a branch. The original stays unchanged.</span>
        <Button size="small" variant="quiet" onClick={onCancel}>
          Cancel
        </Button>
        <Button size="small" type="submit" variant="primary" aria-disabled={text.trim() === '' || undefined}>
          Send
        </Button>
      </div>
    </form>
  );
}

/** The person's message, or the field that edits it into a branch. */
function Message({ agent, turn, editing }: Pick<TurnViewProps, 'agent' | 'turn' | 'editing'>) {
  const [edited, setEdited] = useState<string | null>(null);
  if (editing !== null && (edited !== null || editing.isOpen)) {
    const text = edited ?? turn.message;
    const close = (): void => {
      setEdited(null);
      editing.onClose();
    };
    const send = (): void => {
      close();
      editing.onSend(turn, text);
    };
    return <MessageEditor message={turn.message} text={text} onText={setEdited} onSend={send} onCancel={close} />;
  }
  return (
    <div className="agent-turn__message">
      <div className="agent-turn__said row">
        <span className="caption tertiary">You</span>
        <span className="grow" />
        <Branches agent={agent} turn={turn} />
        {editing && (
          <IconButton icon={Pencil} size="small" label="Edit and branch" onClick={() => setEdited(turn.message)} />
        )}
      </div>
      <p>{turn.message}</p>
    </div>
  );
}

const noResults: readonly ToolResult[] = [];
const noCalls: readonly ToolCall[] = [];

/** The calls of a turn's answer, with fields for their results if it can be continued. */
function TurnCalls({
  agent,
  turn,
  onResults,
  isAnswered,
}: Pick<TurnViewProps, 'agent' | 'turn' | 'onResults' | 'isAnswered'>) {
  const { runId, toolCalls, results, state } = turn;
  const tools = useAgentMocks(({ byAgent }) => byAgent[agent.id]);
  const mocked = useMockResults(onResults && results === null ? toolCalls : noCalls, tools);
  if (toolCalls.length === 0) return null;
  if (onResults === null) {
    const isLeft = results === null && state === 'completed' && turn.finishReason === 'ToolCalls';
    return (
      <>
        <CallList calls={toolCalls} results={results ?? noResults} isGrowing={state !== 'completed'} />
        {isLeft && <p className="small secondary">No results were sent. The agent doesn&apos;t remember this turn.</p>}
      </>
    );
  }
  return (
    <CallStep
      runId={runId}
      calls={toolCalls}
      sent={results ?? mocked}
      isGrowing={false}
      isStreaming={false}
      isNewest={!isAnswered}
      Foot={TurnStepFoot}
      onContinue={(entered) => onResults(turn, entered)}
    />
  );
}

/** One message and its answer, or the answer to results. */
export const TurnView = memo(function TurnView(props: TurnViewProps) {
  const { agent, turn } = props;
  const [isReasoningOpen, setReasoningOpen] = useState(false);
  const meaning = finishMeaning(turn.finishReason);
  return (
    <article className="agent-turn" aria-label={`Turn at ${formatTime(turn.createdAt)}`}>
      {turn.continued === null && <Message agent={agent} turn={turn} editing={props.editing} />}
      <div className="agent-turn__answer">
        <span className="caption tertiary row">
          <span className="grow">{agent.name}</span>
          {turn.continued !== null && <Branches agent={agent} turn={turn} />}
        </span>
        {turn.text === '' && turn.toolCalls.length === 0 && turn.state === 'completed' && (
          <p className="tertiary">The model returned no text.</p>
        )}
        <Reasoning
          text={turn.reasoning}
          isLive={turn.isReasoningLive}
          tokens={turn.usage?.details?.reasoning_tokens ?? null}
          hasEnded={!isActive(turn)}
          isOpen={isReasoningOpen}
          onOpenChange={setReasoningOpen}
        />
        {turn.text !== '' && (
          <CitedText citations={turn.citations}>
            <MarkdownView text={turn.text} isGrowing={turn.state === 'streaming'} />
          </CitedText>
        )}
        <TurnCalls agent={agent} turn={turn} onResults={props.onResults} isAnswered={props.isAnswered} />
        {meaning && <Notice tone="caution">{meaning}</Notice>}
        {turn.state === 'stopped' && (
          <p className="small secondary">
            {turn.text === '' && turn.toolCalls.length === 0
              ? 'No output yet.'
              : "Stopped. Partial answer kept. The agent doesn't remember it."}
          </p>
        )}
        <TurnFailure {...props} />
        <TurnFoot {...props} />
      </div>
    </article>
  );
});
