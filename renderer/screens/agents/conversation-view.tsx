import { Send, Square } from 'lucide-react';
import { useEffect, useRef, useState, type KeyboardEvent, type RefObject } from 'react';
import { useLocation } from 'wouter';
import { AppError } from '../../../shared/app-error.ts';
import type { Agent } from '../../../shared/contract/agents.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState, ErrorFailure, LoadingRows, Notice } from '../../components/state-panels.tsx';
import { agentAddress } from '../../shell/addresses.ts';
import { useActions } from '../../stores/actions.ts';
import { useFollowScroll } from '../../components/use-follow-scroll.ts';
import { TurnView } from './turn-view.tsx';
import { useConversation, type Conversation } from './use-conversation.ts';

function Composer({
  agent,
  conversation,
  input,
  onEditLast,
}: {
  agent: Agent;
  conversation: Conversation;
  input: RefObject<HTMLTextAreaElement | null>;
  onEditLast: () => void;
}) {
  const { message, write, send, stop, isAnswering } = conversation;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowUp' && message === '') {
      event.preventDefault();
      onEditLast();
    }
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      className="composer"
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="field field--area">
        <textarea
          ref={input}
          rows={2}
          aria-label={`Message to ${agent.name}`}
          aria-describedby="composer-keys"
          placeholder={`Message ${agent.name}`}
          value={message}
          onChange={(event) => write(event.target.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className="row">
        <span id="composer-keys" className="caption tertiary grow">
          Enter to send, Shift+Enter for a new line, Up to edit the last message
        </span>
        {isAnswering ? (
          <Button variant="primary" icon={Square} keys="Escape" onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button
            type="submit"
            variant="primary"
            icon={Send}
            keys="Enter"
            aria-disabled={message.trim() === '' || undefined}
          >
            Send
          </Button>
        )}
      </div>
    </form>
  );
}

interface TurnsProps {
  agent: Agent;
  conversationId: string | null;
  conversation: Conversation;
  /** Key of the turn whose message the keyboard has opened. */
  edited: string | null;
  onEdit: (key: string | null) => void;
}

function Turns({ agent, conversationId, conversation, edited, onEdit }: TurnsProps) {
  const [, navigate] = useLocation();
  const { turns, retry, sendInPlace, kept, isAnswering, isOwn } = conversation;
  if (turns.length === 0 && conversationId !== null && kept.isPending)
    return <LoadingRows label="Loading the conversation" />;
  if (turns.length === 0 && kept.error instanceof AppError && kept.error.code === 'not_found') {
    return (
      <EmptyState
        title="Conversation not found"
        reason="It may have been deleted. Select another one or start a new one."
      >
        <Button onClick={() => navigate(agentAddress(agent.id))}>New conversation</Button>
      </EmptyState>
    );
  }
  if (turns.length === 0 && kept.isError) {
    return (
      <ErrorFailure title="Couldn't load the conversation" error={kept.error}>
        <Button onClick={() => void kept.refetch()}>Retry</Button>
      </ErrorFailure>
    );
  }
  if (turns.length === 0) {
    return (
      <EmptyState
        title={`New conversation with ${agent.name}`}
        reason="Remembers the conversation up to the model's context limit. Each turn is a run in the audit."
      />
    );
  }
  const last = turns.at(-1);
  const onClose = (): void => onEdit(null);
  return turns.map((turn) => (
    <TurnView
      key={turn.key}
      agent={agent}
      turn={turn}
      conversationId={conversationId}
      onRetry={turn === last && !isAnswering && isOwn ? () => retry(turn) : null}
      editing={
        isAnswering || !isOwn || turn.runId === null
          ? null
          : { isOpen: edited === turn.key, onSend: sendInPlace, onClose }
      }
    />
  ));
}

/** Says when an answer has ended; the text itself would drown everything else. */
function Announcement({ conversation }: { conversation: Conversation }) {
  const last = conversation.turns.at(-1);
  const words = {
    connecting: 'Sent',
    streaming: 'Answering',
    completed: 'Answer complete',
    stopped: 'Stopped',
    failed: 'Failed',
  };
  return (
    <p className="visually-hidden" role="status">
      {last && words[last.state]}
    </p>
  );
}

/** A conversation with an agent: the turns, and the field for the next message. */
export function ConversationView({ agent, conversationId }: { agent: Agent; conversationId: string | null }) {
  const conversation = useConversation(agent, conversationId);
  const { isAnswering, isAnsweringHere, stop, turns } = conversation;
  const input = useRef<HTMLTextAreaElement>(null);
  const [edited, setEdited] = useState<string | null>(null);
  const last = turns.at(-1);
  const canEdit = conversation.isOwn && last?.runId != null && !isAnswering;
  const editLast = (): void => setEdited(canEdit ? last.key : null);
  const { scroller: scrollerRef, onScroll } = useFollowScroll(`${agent.id}/${turns.length}`, isAnsweringHere);
  useEffect(() => {
    input.current?.focus();
  }, [agent.id, conversationId]);
  useEffect(() => {
    // A conversation is read from its end.
    if (scrollerRef.current) scrollerRef.current.scrollTop = scrollerRef.current.scrollHeight;
  }, [scrollerRef, conversationId, turns.length, last?.failure]);
  useActions('agent-conversation', [
    {
      id: 'agents.stop',
      title: 'Stop the agent',
      group: 'Agents',
      icon: Square,
      keys: 'Escape',
      worksWhileTyping: true,
      isEnabled: isAnswering,
      run: stop,
    },
    {
      id: 'agents.edit-last',
      title: 'Edit the last message in a branch',
      group: 'Agents',
      isEnabled: canEdit,
      run: editLast,
    },
    { id: 'agents.write', title: 'Write a message', group: 'Agents', keys: 'Mod+E', run: () => input.current?.focus() },
  ]);
  return (
    <section className="panel agents__talk" aria-label={`Conversation with ${agent.name}`}>
      <div
        ref={scrollerRef}
        className="scroll agents__turns"
        tabIndex={0}
        role="region"
        aria-label="Turns"
        onScroll={onScroll}
      >
        <div className="agents__column">
          <Turns
            agent={agent}
            conversationId={conversationId}
            conversation={conversation}
            edited={edited}
            onEdit={(key) => {
              setEdited(key);
              if (key === null) input.current?.focus();
            }}
          />
        </div>
      </div>
      <Announcement conversation={conversation} />
      {conversation.isOwn ? (
        <Composer agent={agent} conversation={conversation} input={input} onEditLast={editLast} />
      ) : (
        <div className="composer">
          <Notice>Started by an API client. Start your own conversation with {agent.name}.</Notice>
        </div>
      )}
    </section>
  );
}
