import { Columns3, FileSearch, LibraryBig, ListPlus, Repeat2, SquareTerminal } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { ConversationDetail, ConversationRun } from '../../../shared/contract/conversations.ts';
import { Button } from '../../components/button.tsx';
import { ReplayDialog } from '../../components/replay-dialog.tsx';
import { describeError } from '../../components/state-panels.tsx';
import { useCreateRunDataset } from '../../queries/recorded-calls.ts';
import { newComparisonAddress, runAddress } from '../../shell/addresses.ts';
import { auditAddress } from '../../shell/audit-address.ts';
import { useOpenResult } from '../../shell/navigate-from-here.ts';
import { useActions } from '../../stores/actions.ts';
import { replaceNewSetup, runVariant } from '../../stores/comparison-drafts.ts';
import { showToast } from '../../stores/toasts.ts';
import { DatasetDialog, PromptDialog } from './save-dialogs.tsx';

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

interface CallActionsProps {
  conversation: ConversationDetail;
  run: ConversationRun;
  /** The person works with this conversation: a newer call must not take its place. */
  onWork: () => void;
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

/** What can be made of a call. */
export function CallActions({ conversation, run, onWork }: CallActionsProps) {
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
