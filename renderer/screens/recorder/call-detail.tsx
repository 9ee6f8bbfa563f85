import { ChevronDown, ChevronUp } from 'lucide-react';
import { useRef, useState } from 'react';
import type { ConversationDetail, ConversationRun } from '../../../shared/contract/conversations.ts';
import { type Message, textOfMessage } from '../../../shared/contract/messages.ts';
import { replacementOf } from '../../../shared/contract/audit-exports.ts';
import { IconButton } from '../../components/button.tsx';
import { Segmented } from '../../components/choices.tsx';
import { formatPlural, formatRunDuration, formatWhole } from '../../components/format.ts';
import { SentFile } from '../../components/files/sent-file.tsx';
import { FrameStrip } from '../../components/frame-strip.tsx';
import { MarkdownView } from '../../components/markdown/markdown-view.tsx';
import { ProviderExchanges } from '../../components/provider-exchanges.tsx';
import { blockedWords, finishName, originName } from '../../components/run-words.ts';
import { filesIn, roleTitles } from '../../components/sent-messages.ts';
import { Failure, Notice } from '../../components/state-panels.tsx';
import { useFindHighlights, useRedactionHighlights } from '../../components/text-highlights.ts';
import { CallList } from '../../components/tool-calls/call-list.tsx';
import { useSettings } from '../../queries/settings.ts';
import { useRecorderView } from '../../stores/recorder.ts';
import { resultsIn, toolCallsIn } from '../../stores/tool-steps.ts';
import { addedMessages } from './added-messages.ts';
import { CallActions } from './call-actions.tsx';
import { programName } from './program-name.ts';
import '../../components/run-detail.css';

function MessageTurn({ message, next }: { message: Message; next: Message | undefined }) {
  const text = textOfMessage(message);
  const calls = toolCallsIn(message);
  return (
    <article className="turn">
      <h3>{roleTitles[message.role]}</h3>
      <div className="turn__body">
        {text !== '' && <p className="turn__text">{text}</p>}
        {filesIn(message).map(({ offset, file }) => (
          <SentFile key={`${offset}/${file.fileId}`} file={file} />
        ))}
        {calls.length > 0 && <CallList calls={calls} results={resultsIn(next)} />}
      </div>
    </article>
  );
}

function Messages({ messages }: { messages: readonly Message[] }) {
  return messages.map((message, index) => {
    // The results are below their calls.
    if (message.role === 'tool' && toolCallsIn(messages[index - 1]).length > 0) return null;
    return <MessageTurn key={index} message={message} next={messages[index + 1]} />;
  });
}

function Answer({ run }: { run: ConversationRun }) {
  const { content, toolCalls = [], error } = run.output;
  const blocked = blockedWords(run);
  return (
    <article className="turn call__now">
      <h3>Answer</h3>
      <div className="turn__body">
        {content !== '' && <MarkdownView text={content} isGrowing={run.status === 'Running'} />}
        {toolCalls.length > 0 && <CallList calls={toolCalls} isGrowing={run.status === 'Running'} />}
        {run.status === 'Running' && <p className="tertiary">The call is in progress.</p>}
        {run.status === 'Cancelled' && (
          <p className="small secondary">The program left before the end. What had arrived is kept.</p>
        )}
        {blocked && <Notice tone="caution">{blocked}</Notice>}
        {error && <Failure title="Call failed" reason={error.message} />}
      </div>
    </article>
  );
}

/** The messages that this turn added, with those that it repeated folded above. */
function Turns({ run, before }: { run: ConversationRun; before: ConversationRun | undefined }) {
  const { repeated, added, dropped } = addedMessages(run, before);
  const { systemMessage } = run.input;
  return (
    <>
      {systemMessage && (
        <details className="call__fold">
          <summary className="small">System message</summary>
          <p className="turn__text small secondary">{systemMessage}</p>
        </details>
      )}
      {repeated.length > 0 && (
        <details className="call__fold">
          <summary className="small">{formatPlural(repeated.length, 'earlier message')}, unchanged</summary>
          <Messages messages={repeated} />
        </details>
      )}
      {dropped > 0 && (
        <Notice tone="caution">Left out or changed {formatPlural(dropped, 'message')} of the turn before.</Notice>
      )}
      <Messages messages={added} />
      <Answer run={run} />
    </>
  );
}

const parts = [
  { value: 'turns', label: 'Turns' },
  { value: 'request', label: 'Request' },
  { value: 'response', label: 'Response' },
  { value: 'headers', label: 'Headers' },
] as const;

/** The turns, or what went over the wire. */
function PartOfCall({
  run,
  before,
  search,
}: {
  run: ConversationRun;
  before: ConversationRun | undefined;
  search: string;
}) {
  const part = useRecorderView((view) => view.part);
  const settings = useSettings().data;
  const marks = [...(settings?.recorder.redaction ?? []).map(replacementOf), ...(settings?.redactionMarks ?? [])];
  const reading = useRef<HTMLDivElement>(null);
  const runId = run.conversationRunId;
  const shown = `${runId} ${run.status} ${part}`;
  useFindHighlights(reading, search, shown);
  useRedactionHighlights(reading, marks.join('\n'), shown);
  return (
    <>
      <div className="header">
        <Segmented
          label="Part of the call"
          value={part}
          options={parts}
          onValueChange={(next) => useRecorderView.setState({ part: next })}
        />
      </div>
      <div
        key={runId}
        ref={reading}
        className="scroll grow audit__read"
        tabIndex={0}
        role="region"
        aria-label={parts.find(({ value }) => value === part)!.label}
      >
        {part === 'turns' ? (
          <Turns run={run} before={before} />
        ) : run.status === 'Running' ? (
          <p className="turn tertiary">Shown when the call ends.</p>
        ) : (
          <ProviderExchanges runId={runId} part={part} isRecorded />
        )}
      </div>
    </>
  );
}

function CallMetadata({ run }: { run: ConversationRun }) {
  const { usage, timing, output, origin } = run;
  const details: [string, string | null][] = [
    ['API', originName(origin.api)],
    ['Cached', usage?.details?.cached_tokens == null ? null : formatWhole(usage.details.cached_tokens)],
    ['First token', timing.firstTokenMs === null ? null : formatRunDuration(timing.firstTokenMs)],
    ['Finish reason', output.finishReason === null ? null : finishName(output.finishReason)],
  ];
  return (
    <div className="audit__facts">
      <dl className="inline-facts">
        {details.map(([name, value]) =>
          value === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
      {run.frames && <FrameStrip frames={run.frames} />}
    </div>
  );
}

interface CallDetailProps {
  conversation: ConversationDetail;
  /** The call that the list shows; undefined for the newest one. */
  openRunId: string | undefined;
  /** The terms that were searched. */
  search: string;
  /** The person works with this conversation: a newer call must not take its place. */
  onWork: () => void;
}

/** One conversation of recorded calls, a turn at a time. */
export function CallDetail({ conversation, openRunId, search, onWork }: CallDetailProps) {
  const { runs } = conversation;
  const [chosen, setChosen] = useState<string | null>(null);
  const found = runs.findIndex(({ conversationRunId }) => conversationRunId === (chosen ?? openRunId));
  const index = found === -1 ? runs.length - 1 : found;
  const run = runs[index];
  if (!run) return null;
  const go = (by: number): void => {
    onWork();
    setChosen(runs[index + by]?.conversationRunId ?? run.conversationRunId);
  };
  return (
    <>
      <div className="header header--line audit__title">
        <h2 className="truncate" title={run.origin.client ?? undefined}>
          {run.origin.client === null ? conversation.name : programName(run.origin.client)}
        </h2>
        <span className="caption tertiary nowrap">
          turn {index + 1} of {runs.length}
        </span>
        <span className="grow" />
        <IconButton
          icon={ChevronUp}
          label="Previous turn"
          size="small"
          variant="default"
          aria-disabled={index === 0 || undefined}
          onClick={() => go(-1)}
        />
        <IconButton
          icon={ChevronDown}
          label="Next turn"
          size="small"
          variant="default"
          aria-disabled={index === runs.length - 1 || undefined}
          onClick={() => go(1)}
        />
      </div>
      <CallMetadata run={run} />
      <PartOfCall run={run} before={runs[index - 1]} search={search} />
      <CallActions conversation={conversation} run={run} onWork={onWork} />
    </>
  );
}
