import { useState } from 'react';
import { useLocation } from 'wouter';
import type { ConversationRun } from '../../../shared/contract/conversations.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { describeError } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useCreatePrompt } from '../../queries/prompts.ts';
import { useCreateRunDataset } from '../../queries/recorded-calls.ts';
import { datasetAddress, promptAddress } from '../../shell/addresses.ts';

interface NameDialogProps {
  title: string;
  action: string;
  explanation: string;
  suggestion: string;
  isBusy: boolean;
  error: unknown;
  onSave: (name: string) => void;
  onClose: () => void;
}

function NameDialog({ title, action, explanation, suggestion, isBusy, error, onSave, onClose }: NameDialogProps) {
  const [name, setName] = useState(suggestion);
  const given = name.trim();
  const save = (): void => {
    if (given !== '') onSave(given);
  };
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="primary" isBusy={isBusy} aria-disabled={given === '' || undefined} onClick={save}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog title={title} isOpen onClose={onClose} footer={footer}>
      <p className="small secondary">{explanation}</p>
      <TextField
        label="Name"
        maxLength={200}
        value={name}
        onValueChange={setName}
        onKeyDown={(event) => event.key === 'Enter' && save()}
      />
      {error !== null && (
        <p className="small negative" role="alert">
          {describeError(error).message}
        </p>
      )}
    </Dialog>
  );
}

interface SaveDialogProps {
  run: ConversationRun;
  /** Of the conversation. */
  name: string;
  onClose: () => void;
}

/** Saves the messages and the parameters of a call as a prompt. */
export function PromptDialog({ run, name, onClose }: SaveDialogProps) {
  const [, navigate] = useLocation();
  const create = useCreatePrompt();
  const { promptText, systemMessage, configuration } = run.input;
  const save = (given: string): void =>
    create.mutate(
      { name: given, promptText, systemMessage, configuration, aiSystem: run.aiSystem, model: run.model },
      { onSuccess: ({ id }) => navigate(promptAddress(id)) },
    );
  return (
    <NameDialog
      title="Save as prompt"
      action="Save prompt"
      explanation="Saves the system message, the messages, the tools and the parameters of this call as the first version of a prompt."
      suggestion={name.slice(0, 200)}
      isBusy={create.isPending}
      error={create.error}
      onSave={save}
      onClose={onClose}
    />
  );
}

/** Makes a dataset of the calls of a conversation. */
export function DatasetDialog({
  runs,
  name,
  onClose,
}: Omit<SaveDialogProps, 'run'> & { runs: readonly ConversationRun[] }) {
  const [, navigate] = useLocation();
  const create = useCreateRunDataset();
  const runIds = runs.map(({ conversationRunId }) => conversationRunId);
  return (
    <NameDialog
      title="Make a dataset"
      action="Make a dataset"
      explanation="Each call of this conversation becomes a row with its prompt, its answer as the expected value, and its model."
      suggestion={name.slice(0, 200)}
      isBusy={create.isPending}
      error={create.error}
      onSave={(given) =>
        create.mutate(
          { name: given, selection: { runIds }, answer: 'expected', hasFeedback: true },
          { onSuccess: ({ id }) => navigate(datasetAddress(id)) },
        )
      }
      onClose={onClose}
    />
  );
}
