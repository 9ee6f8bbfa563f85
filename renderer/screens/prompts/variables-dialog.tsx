import { useId, useState, type FormEvent } from 'react';
import { useLocation } from 'wouter';
import type { PromptVariable, PromptVersion } from '../../../shared/contract/prompts.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { describeError } from '../../components/state-panels.tsx';
import { useAddVersion, versionInput } from '../../queries/prompts.ts';
import { promptAddress } from '../../shell/addresses.ts';
import { showToast } from '../../stores/toasts.ts';
import { VariableFields } from '../../components/variable-fields.tsx';

export interface VariablesDialogProps {
  version: PromptVersion;
  variables: readonly PromptVariable[];
  onClose: () => void;
}

/** Changes what a version says of its variables. It stays as it is: what was changed is kept as a version of its own. */
export function VariablesDialog({ version, variables, onClose }: VariablesDialogProps) {
  const formId = useId();
  const [, navigate] = useLocation();
  const [edited, setEdited] = useState<readonly PromptVariable[]>(variables);
  const addVersion = useAddVersion();
  const isSame = JSON.stringify(edited) === JSON.stringify(variables);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isSame) return;
    addVersion.mutate(
      {
        ...versionInput(version),
        promptId: version.promptId,
        variables: [...edited],
        note: `Variables of version ${version.number} changed`,
      },
      {
        onSuccess: ({ id, number, promptId }) => {
          onClose();
          navigate(promptAddress(promptId, id));
          showToast({ tone: 'neutral', text: `Saved as version ${number}.` });
        },
      },
    );
  };
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button
        type="submit"
        form={formId}
        variant="primary"
        isBusy={addVersion.isPending}
        aria-disabled={isSame || undefined}
      >
        Save as a new version
      </Button>
    </>
  );
  return (
    <Dialog title={`Variables of version ${version.number}`} isOpen isWide onClose={onClose} footer={footer}>
      <form id={formId} className="prompts__form" onSubmit={submit}>
        <VariableFields variables={edited} onChange={setEdited} />
        {addVersion.error && (
          <p className="small negative" role="alert">
            {describeError(addVersion.error).message}
          </p>
        )}
      </form>
    </Dialog>
  );
}
