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
import { openCallsOf, useConversation, type Conversation } from './use-conversation.ts';

/** The keys of the composer, and the button that sends the message or stops the answer. */
function ComposerFoot({
  isEmpty,
  isAnswering,
  onStop,
}: {
  isEmpty: boolean;
  isAnswering: boolean;
  onStop: () => void;
}) {
  return (
    <div className="row">
      <span id="composer-keys" className="caption tertiary grow">
        Enter to send, Shift+Enter for a new line, Up to edit the last message
      </span>
      {isAnswering ? (
        <Button variant="primary" icon={Square} keys="Escape" onClick={onStop}>
          Stop
        </Button>
      ) : (
        <Button type="submit" variant="primary" icon={Send} keys="Enter" aria-disabled={isEmpty || undefined}>
          Send
        </Button>
      )}
    </div>
  );
}

interface ComposerProps {
  agent: Agent;
  conversation: Conversation;
  input: RefObject<HTMLTextAreaElement | null>;
  onEditLast: () => void;
}

function Composer({ agent, conversation, input, onEditLast }: ComposerProps) {
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
      <ComposerFoot isEmpty={message.trim() === ''} isAnswering={isAnswering} onStop={stop} />
    </form>
  );
}

interface TurnsProps {
  agent: Agent;
  conversationId: string | null;
  conversation: Conversation;
  /** Key of the turn whose message was opened with the keyboard. */
  edited: string | null;
  onEdit: (key: string | null) => void;
}

function Turns({ agent, conversationId, conversation, edited, onEdit }: TurnsProps) {
  const [, navigate] = useLocation();
  const { turns, retry, sendInBranch, sendResults, saved, isAnswering, isOwn } = conversation;
  if (turns.length === 0 && conversationId !== null && saved.isPending)
    return <LoadingRows label="Loading the conversation" />;
  if (turns.length === 0 && saved.error instanceof AppError && saved.error.code === 'not_found') {
    return (
      <EmptyState
        title="Conversation not found"
        reason="It may have been deleted. Select another one or start a new one."
      >
        <Button onClick={() => navigate(agentAddress(agent.id))}>New conversation</Button>
      </EmptyState>
    );
  }
  if (turns.length === 0 && saved.isError) {
    return (
      <ErrorFailure title="Couldn't load the conversation" error={saved.error}>
        <Button onClick={() => void saved.refetch()}>Retry</Button>
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
  return turns.map((turn) => {
    const calls = isAnswering || !isOwn ? null : openCallsOf(turns, turn);
    return (
      <TurnView
        key={turn.key}
        agent={agent}
        turn={turn}
        conversationId={conversationId}
        onResults={calls && ((answered, results) => sendResults(answered, calls, results))}
        isAnswered={calls?.answered != null}
        onRetry={turn === last && !isAnswering && isOwn ? () => retry(turn) : null}
        editing={
          isAnswering || !isOwn || turn.runId === null
            ? null
            : { isOpen: edited === turn.key, onSend: sendInBranch, onClose }
        }
      />
    );
  });
}

/** Announces the state of the last answer to screen readers, without its text. */
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

interface ConversationActions {
  conversation: Conversation;
  canEdit: boolean;
  editLast: () => void;
  input: RefObject<HTMLTextAreaElement | null>;
}

function useConversationActions({ conversation, canEdit, editLast, input }: ConversationActions): void {
  const group = 'Agents';
  useActions('agent-conversation', [
    {
      id: 'agents.stop',
      title: 'Stop the agent',
      group,
      icon: Square,
      keys: 'Escape',
      worksWhileTyping: true,
      isEnabled: conversation.isAnswering,
      run: conversation.stop,
    },
    { id: 'agents.edit-last', title: 'Edit the last message in a branch', group, isEnabled: canEdit, run: editLast },
    { id: 'agents.write', title: 'Write a message', group, keys: 'Mod+E', run: () => input.current?.focus() },
  ]);
}

/** A conversation with an agent: the turns, and the field for the next message. */
export function ConversationView({ agent, conversationId }: { agent: Agent; conversationId: string | null }) {
  const conversation = useConversation(agent, conversationId);
  const { isAnswering, isAnsweringHere, turns } = conversation;
  const input = useRef<HTMLTextAreaElement>(null);
  const [edited, setEdited] = useState<string | null>(null);
  const last = turns.at(-1);
  const lastMessage = turns.findLast(({ continued }) => continued === null);
  const canEdit = conversation.isOwn && lastMessage?.runId != null && !isAnswering;
  const editLast = (): void => setEdited(canEdit ? lastMessage.key : null);
  const { scroller: scrollerRef, onScroll } = useFollowScroll(`${agent.id}/${turns.length}`, isAnsweringHere);
  useEffect(() => {
    input.current?.focus();
  }, [agent.id, conversationId]);
  useEffect(() => {
    // People read a conversation from its end.
    if (scrollerRef.current) scrollerRef.current.scrollTop = scrollerRef.current.scrollHeight;
  }, [scrollerRef, conversationId, turns.length, last?.failure]);
  useConversationActions({ conversation, canEdit, editLast, input });
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
