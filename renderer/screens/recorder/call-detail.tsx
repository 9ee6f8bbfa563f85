import {
  ChevronDown,
  ChevronUp,
  Columns3,
  FileSearch,
  LibraryBig,
  ListPlus,
  Repeat2,
  SquareTerminal,
} from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { ConversationDetail, ConversationRun } from '../../../shared/contract/conversations.ts';
import { type Message, textOfMessage } from '../../../shared/contract/messages.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { formatPlural, formatRunDuration, formatWhole } from '../../components/format.ts';
import { FrameStrip } from '../../components/frame-strip.tsx';
import { MarkdownView } from '../../components/markdown/markdown-view.tsx';
import { ReplayDialog } from '../../components/replay-dialog.tsx';
import { blockedWords, finishName, originName } from '../../components/run-words.ts';
import { roleTitles } from '../../components/sent-messages.ts';
import { describeError, Failure, Notice } from '../../components/state-panels.tsx';
import { CallList } from '../../components/tool-calls/call-list.tsx';
import { useCreateRunDataset } from '../../queries/recorded-calls.ts';
import { newComparisonAddress, runAddress } from '../../shell/addresses.ts';
import { useOpenResult } from '../../shell/navigate-from-here.ts';
import { auditAddress } from '../../shell/audit-address.ts';
import { useActions } from '../../stores/actions.ts';
import { replaceNewSetup, runVariant } from '../../stores/comparison-drafts.ts';
import { showToast } from '../../stores/toasts.ts';
import { resultsIn, toolCallsIn } from '../../stores/tool-steps.ts';
import { addedMessages } from './added-messages.ts';
import { DatasetDialog, PromptDialog } from './save-dialogs.tsx';
import '../../components/run-detail.css';

function MessageTurn({ message, next }: { message: Message; next: Message | undefined }) {
  const text = textOfMessage(message);
  const calls = toolCallsIn(message);
  return (
    <article className="turn">
      <h3>{roleTitles[message.role]}</h3>
      <div className="turn__body">
        {text !== '' && <p className="turn__text">{text}</p>}
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

/** A dialog keeps the call that it was opened for: the next turn of a running program is another one. */
interface OpenDialog {
  kind: 'prompt' | 'dataset' | 'replay';
  run: ConversationRun;
}

/** Compares the model of a call with others: the call is the first variant, and the only row of a dataset. */
function useCompareCall(run: ConversationRun, name: string): { compare: () => void; isBusy: boolean } {
  const openResult = useOpenResult();
  const create = useCreateRunDataset();
  const hasSteps = run.input.messages.some(({ role }) => role === 'tool');
  const compare = (): void => {
    if (create.isPending) return;
    if (hasSteps) {
      showToast({
        tone: 'neutral',
        text: "Variants can't contain results of tools. Replay this call on another model instead.",
      });
      return;
    }
    const selection = { runIds: [run.conversationRunId] };
    create.mutateAsync({ name, selection, answer: 'expected', hasFeedback: false }).then(
      ({ id }) =>
        openResult({
          address: newComparisonAddress,
          text: `"${name}" is ready to compare.`,
          beforeOpening: () => replaceNewSetup({ datasetId: id, variants: [runVariant(run, name)] }),
        }),
      (error: unknown) => showToast({ tone: 'negative', text: describeError(error).message }),
    );
  };
  return { compare, isBusy: create.isPending };
}

interface ActionsProps extends CallDetailProps {
  run: ConversationRun;
}

interface CallDialogProps {
  dialog: OpenDialog;
  conversation: ConversationDetail;
  onClose: () => void;
}

function CallDialog({ dialog: { kind, run }, conversation: { name, runs }, onClose }: CallDialogProps) {
  if (kind === 'prompt') return <PromptDialog run={run} name={name} onClose={onClose} />;
  if (kind === 'dataset') return <DatasetDialog runs={runs} run={run} name={name} onClose={onClose} />;
  return (
    <ReplayDialog
      isOpen
      selection={{ runIds: [run.conversationRunId] }}
      subject={`this call of "${name}"`}
      promptText={run.input.promptText}
      onClose={onClose}
    />
  );
}

function Actions({ conversation, run, onWork }: ActionsProps) {
  const [, navigate] = useLocation();
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const open = (kind: OpenDialog['kind']): void => {
    onWork();
    setDialog({ kind, run });
  };
  const runId = run.conversationRunId;
  const inAudit = auditAddress({ filter: {}, sort: 'newest', conversationId: conversation.id, runId });
  const group = 'Recorded call';
  const { compare: compareCall, isBusy } = useCompareCall(run, conversation.name);
  const compare = (): void => {
    onWork();
    compareCall();
  };
  const openRun = () => navigate(runAddress(runId));
  const openAudit = () => navigate(inAudit);
  useActions('recorder-call', [
    { id: 'recorder.playground', title: 'Open in playground', group, keys: 'O', run: openRun },
    { id: 'recorder.prompt', title: 'Save as prompt', group, keys: 'S', run: () => open('prompt') },
    { id: 'recorder.replay', title: 'Replay on another model', group, keys: 'R', run: () => open('replay') },
    { id: 'recorder.dataset', title: 'Add to dataset', group, keys: 'D', run: () => open('dataset') },
    { id: 'recorder.compare', title: 'Compare with other models', group, keys: 'C', run: compare },
    { id: 'recorder.audit', title: 'Open in audit', group, keys: 'A', run: openAudit },
  ]);
  return (
    <div className="toolbar audit__actions line-top">
      <Button size="small" icon={SquareTerminal} keys="O" onClick={openRun}>
        Open in playground
      </Button>
      <Button size="small" icon={LibraryBig} keys="S" onClick={() => open('prompt')}>
        Save as prompt
      </Button>
      <Button size="small" icon={Repeat2} keys="R" onClick={() => open('replay')}>
        Replay
      </Button>
      <Button size="small" icon={ListPlus} keys="D" onClick={() => open('dataset')}>
        Add to dataset
      </Button>
      <Button size="small" icon={Columns3} keys="C" isBusy={isBusy} onClick={compare}>
        Compare
      </Button>
      <Button size="small" icon={FileSearch} keys="A" onClick={openAudit}>
        Open in audit
      </Button>
      {dialog && <CallDialog dialog={dialog} conversation={conversation} onClose={() => setDialog(null)} />}
    </div>
  );
}

interface CallDetailProps {
  conversation: ConversationDetail;
  /** The person works with this conversation: a newer call must not take its place. */
  onWork: () => void;
}

/** One conversation of recorded calls, a turn at a time. */
export function CallDetail({ conversation, onWork }: CallDetailProps) {
  const { runs } = conversation;
  const [chosen, setChosen] = useState<string | null>(null);
  const found = runs.findIndex(({ conversationRunId }) => conversationRunId === chosen);
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
        <h2 className="truncate">{run.origin.client ?? conversation.name}</h2>
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
      <div
        key={run.conversationRunId}
        className="scroll grow audit__read"
        tabIndex={0}
        role="region"
        aria-label="Turns"
      >
        <Turns run={run} before={runs[index - 1]} />
      </div>
      <Actions conversation={conversation} run={run} onWork={onWork} />
    </>
  );
}
