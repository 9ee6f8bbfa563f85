import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Prompt, PromptVersion } from '../../../../shared/contract/prompts.ts';
import { Combobox } from '../../../components/combobox.tsx';
import { Select } from '../../../components/select.tsx';
import { describeError } from '../../../components/state-panels.tsx';
import { useHost } from '../../../host/host-context.tsx';
import { promptVersionOptions, usePrompt, usePromptsAtOnce, usePromptVersions } from '../../../queries/prompts.ts';
import { draftVariant, type VariantDraft, type VariantPrompt } from '../../../stores/comparison-drafts.ts';
import { type Draft, useDrafts } from '../../../stores/playground-drafts.ts';
import { everyPrompt } from '../../../stores/prompts.ts';

/** More prompts than a person reads through; typing filters them. */
const maxListedPrompts = 1_000;

interface PromptFieldProps {
  letter: string;
  prompt: VariantPrompt | null;
  onVersion: (version: PromptVersion) => void;
  onDraft: (variant: VariantDraft) => void;
}

function VersionSelect({
  letter,
  prompt,
  onChoose,
}: {
  letter: string;
  prompt: { promptId: string; versionId: string };
  onChoose: (versionId: string) => void;
}) {
  const pages = usePromptVersions(prompt.promptId).data?.pages ?? [];
  const versions = pages.flatMap(({ data }) => data);
  const options = versions.map(({ id, number }) => ({ value: id, label: `v${number}` }));
  const isListed = versions.some(({ id }) => id === prompt.versionId);
  return (
    <Select
      label={`Version of ${letter}`}
      size="small"
      value={prompt.versionId}
      options={isListed ? options : [...options, { value: prompt.versionId, label: 'older' }]}
      onValueChange={onChoose}
    />
  );
}

function promptOptions(prompts: readonly Prompt[], drafts: readonly Draft[]) {
  return [
    ...prompts.map(({ id, name, folder, latestVersion }) => ({
      value: `prompt/${id}`,
      label: name,
      group: folder ?? 'Library',
      detail: `v${latestVersion.number}`,
    })),
    ...drafts
      .filter(({ promptText }) => promptText.trim() !== '')
      .map(({ id, name, model }) => ({ value: `draft/${id}`, label: name, group: 'Playground', detail: model })),
  ];
}

/** A prompt of the library with its version, or one of the playground. */
export function PromptField({ letter, prompt, onVersion, onDraft }: PromptFieldProps) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const [failure, setFailure] = useState<string | null>(null);
  const prompts = usePromptsAtOnce(everyPrompt, { max: maxListedPrompts, isEnabled: true });
  const drafts = useDrafts((state) => state.drafts);
  const own = usePrompt(prompt?.kind === 'version' && prompt.promptId !== '' ? prompt.promptId : null);
  const choose = async (promptId: string, versionId: string): Promise<void> => {
    try {
      onVersion(await queryClient.fetchQuery(promptVersionOptions(client, promptId, versionId)));
      setFailure(null);
    } catch (cause) {
      setFailure(describeError(cause).message);
    }
  };
  const options = promptOptions(prompts.data ?? [], drafts);
  const pick = (value: string): void => {
    const [kind, id] = value.split('/');
    const found = prompts.data?.find((one) => one.id === id);
    const draft = drafts.find((one) => one.id === id);
    if (kind === 'prompt' && found) void choose(found.id, found.latestVersionId);
    if (kind === 'draft' && draft) onDraft(draftVariant(draft, { isVersion: false }));
  };
  const shown =
    prompt === null
      ? 'Choose a prompt'
      : prompt.kind === 'text'
        ? prompt.title
        : (own.data?.name ?? (own.isError ? 'Deleted prompt' : 'Loading'));
  return (
    <div className="setup__prompt">
      <Combobox
        label={`Prompt of ${letter}`}
        size="small"
        value={prompt?.kind === 'version' ? `prompt/${prompt.promptId}` : ''}
        shown={shown}
        placeholder="Search prompts"
        options={options}
        onValueChange={pick}
      />
      {prompt?.kind === 'version' && own.data && (
        <VersionSelect
          letter={letter}
          prompt={prompt}
          onChoose={(versionId) => void choose(prompt.promptId, versionId)}
        />
      )}
      {failure !== null && (
        <p className="caption negative" role="alert">
          Couldn't read the prompt. {failure}
        </p>
      )}
    </div>
  );
}
