import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import type { Prompt, PromptVersion } from '../../../shared/contract/prompts.ts';
import { describeError } from '../../components/state-panels.tsx';
import { useAddVersion, useDuplicatePrompt, useRemovePrompt, versionInput } from '../../queries/prompts.ts';
import { auditKey } from '../../queries/audit.ts';
import { promptAddress, versionDraftAddress } from '../../shell/addresses.ts';
import { deleteWithUndo } from '../../stores/deletions.ts';
import { showToast } from '../../stores/toasts.ts';

export interface PromptCommands {
  duplicate: () => void;
  /** Off the screen at once, at the host when the time to take it back is over. */
  remove: () => void;
  /** Makes an older version the newest one again, as a version of its own. */
  restore: (version: PromptVersion) => void;
  openInPlayground: (versionId: string) => void;
}

/** What can be done with a prompt of the library. */
export function usePromptCommands(prompt: Prompt): PromptCommands {
  const [, navigate] = useLocation();
  const queryClient = useQueryClient();
  const duplicate = useDuplicatePrompt();
  const addVersion = useAddVersion();
  const removePrompt = useRemovePrompt();
  return {
    duplicate: () =>
      duplicate.mutate(prompt, {
        onSuccess: ({ id, name }) => {
          navigate(promptAddress(id));
          showToast({ tone: 'neutral', text: `Duplicated as "${name}".` });
        },
      }),
    remove: () => {
      deleteWithUndo({
        id: prompt.id,
        counted: { prompt },
        text: `Deleted "${prompt.name}". Its runs stay in the audit.`,
        carryOut: async () => {
          await removePrompt(prompt.id);
          await queryClient.invalidateQueries({ queryKey: auditKey });
        },
        onUndo: () => navigate(promptAddress(prompt.id)),
      });
      navigate('/prompts');
    },
    restore: (version) => {
      const note = `Version ${version.number} restored`;
      addVersion.mutate(
        { promptId: prompt.id, ...versionInput(version), note },
        {
          onSuccess: ({ number }) => {
            navigate(promptAddress(prompt.id));
            showToast({ tone: 'neutral', text: `Restored version ${version.number} as version ${number}.` });
          },
          onError: (cause) => {
            const { message, requestId } = describeError(cause);
            showToast({ tone: 'negative', text: message, requestId });
          },
        },
      );
    },
    openInPlayground: (versionId) => navigate(versionDraftAddress(prompt.id, versionId)),
  };
}
