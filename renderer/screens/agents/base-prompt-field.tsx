import { useQueryClient } from '@tanstack/react-query';
import { RefreshCw, Unlink } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import { Button } from '../../components/button.tsx';
import { Combobox } from '../../components/combobox.tsx';
import { describeError } from '../../components/state-panels.tsx';
import { useHost } from '../../host/host-context.tsx';
import { promptVersionOptions, usePrompt, usePromptsAtOnce, usePromptVersion } from '../../queries/prompts.ts';
import { promptAddress } from '../../shell/addresses.ts';
import { everyPrompt } from '../../stores/prompts.ts';
import { basePromptText } from './agent-fields.ts';

/** More prompts than anyone looks through; typing narrows them. */
const maxListedPrompts = 1_000;

export interface BasePrompt {
  promptId: string | null;
  promptVersionId: string | null;
}

interface BasePromptFieldProps {
  base: BasePrompt;
  /** The agent's prompt, which may have been edited since. */
  prompt: string;
  onChoose: (version: PromptVersion) => void;
  onDetach: () => void;
}

/** Chooses a prompt of the library; its newest version fills the form. */
export function BasePromptField({ base, prompt, onChoose, onDetach }: BasePromptFieldProps) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const [failure, setFailure] = useState<string | null>(null);
  const prompts = usePromptsAtOnce(everyPrompt, { most: maxListedPrompts, isEnabled: true });
  const based = usePrompt(base.promptId);
  const version = usePromptVersion(base.promptId, base.promptVersionId);
  const choose = async (promptId: string, versionId: string): Promise<void> => {
    try {
      onChoose(await queryClient.fetchQuery(promptVersionOptions(client, promptId, versionId)));
      setFailure(null);
    } catch (cause) {
      setFailure(describeError(cause).message);
    }
  };
  const latest = based.data?.latestVersion.number;
  const number = version.data?.number;
  const isOutdated = latest !== undefined && number !== undefined && latest > number;
  const isEdited = version.data !== undefined && basePromptText(version.data) !== prompt;
  const name = based.data?.name ?? (base.promptId === null ? 'None' : 'Deleted prompt');
  return (
    <div className="agents__base">
      <div className="labelled">
        <span className="label">Based on</span>
        <Combobox
          label="Based on"
          value={base.promptId ?? ''}
          shown={number === undefined ? name : `${name}, version ${number}`}
          placeholder="Search prompts"
          options={(prompts.data ?? []).map((one) => ({
            value: one.id,
            label: one.name,
            group: one.folder ?? 'No folder',
            detail: `version ${one.latestVersion.number}`,
          }))}
          onValueChange={(promptId) => {
            const chosen = prompts.data?.find(({ id }) => id === promptId);
            if (chosen) void choose(promptId, chosen.latestVersionId);
          }}
        />
      </div>
      {base.promptId !== null && (
        <div className="row agents__base-actions">
          {isEdited && <span className="caption tertiary">Edited here</span>}
          {based.data && (
            <Link href={promptAddress(base.promptId, base.promptVersionId ?? undefined)} className="link caption">
              Open prompt
            </Link>
          )}
          <span className="grow" />
          {isOutdated && (
            <Button
              size="small"
              icon={RefreshCw}
              onClick={() => void choose(base.promptId!, based.data!.latestVersionId)}
            >
              Update to version {latest}
            </Button>
          )}
          <Button size="small" variant="quiet" icon={Unlink} onClick={onDetach}>
            Detach
          </Button>
        </div>
      )}
      {failure !== null && (
        <p className="small negative" role="alert">
          Couldn't read the prompt. {failure}
        </p>
      )}
    </div>
  );
}
