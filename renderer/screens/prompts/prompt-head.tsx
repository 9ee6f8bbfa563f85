import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import {
  Columns3,
  Copy,
  Ellipsis,
  FolderInput,
  Hash,
  History,
  Pencil,
  RotateCcw,
  SquareTerminal,
  Trash2,
} from 'lucide-react';
import { maxVariants } from '../../../shared/contract/comparisons.ts';
import type { Prompt, PromptVersion } from '../../../shared/contract/prompts.ts';
import { describeError } from '../../components/state-panels.tsx';
import { useAddVersion, useDuplicatePrompt, useRemovePrompt, versionInput } from '../../queries/prompts.ts';
import { auditKey } from '../../queries/audit.ts';
import { newComparisonAddress, promptAddress, versionDraftAddress } from '../../shell/addresses.ts';
import { useNavigateFromHere } from '../../shell/navigate-from-here.ts';
import { deleteWithUndo } from '../../stores/deletions.ts';
import { showToast } from '../../stores/toasts.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Badge } from '../../components/badges.tsx';
import { Menu } from '../../components/menu.tsx';
import { CopyLink } from '../../shell/links.tsx';
import { addVersionToSetup } from '../../stores/comparison-drafts.ts';
import { useActions } from '../../stores/actions.ts';
import type { DetailField } from './prompt-dialogs.tsx';

interface PromptCommands {
  duplicate: () => void;
  /** Hides it at once and deletes it at the host when Undo is over. */
  remove: () => void;
  /** Restores an older version as a new version. */
  restore: (version: PromptVersion) => void;
  openInPlayground: (versionId: string) => void;
  /** Adds the version to the comparison that is being set up, and shows that. */
  compare: (version: PromptVersion) => Promise<void>;
}

/** The actions on a prompt of the library. */
export function usePromptCommands(prompt: Prompt): PromptCommands {
  const [, navigate] = useLocation();
  const navigateFromHere = useNavigateFromHere();
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
    compare: async (version) => {
      const openSetup = navigateFromHere();
      const letter = await addVersionToSetup(version);
      const name = `version ${version.number} of "${prompt.name}"`;
      const text =
        letter === null
          ? `A comparison has at most ${maxVariants} variants. Remove one to add ${name}.`
          : `Added ${name} as variant ${letter}.`;
      showToast({ tone: letter === null ? 'negative' : 'neutral', text });
      openSetup(newComparisonAddress);
    },
  };
}

interface PromptHeadProps {
  prompt: Prompt;
  /** Undefined while it loads. */
  version: PromptVersion | undefined;
  isNewest: boolean;
  commands: PromptCommands;
  onEdit: (field: DetailField) => void;
  /** Shows the history of the labels. */
  onLabels: () => void;
}

/** The actions on the prompt, in the palette and by key. */
export function useDetailActions(
  { prompt, version, isNewest, commands, onEdit, onLabels }: PromptHeadProps,
  show: (view: string) => void,
) {
  const group = 'Prompts';
  useActions('prompt-detail', [
    {
      id: 'prompts.open',
      title: `Open ${prompt.name} in the playground`,
      group,
      icon: SquareTerminal,
      keys: 'O',
      isEnabled: version !== undefined,
      run: () => version && commands.openInPlayground(version.id),
    },
    {
      id: 'prompts.rename',
      title: `Rename ${prompt.name}`,
      group,
      icon: Pencil,
      keys: 'F2',
      run: () => onEdit('name'),
    },
    {
      id: 'prompts.move',
      title: `Move ${prompt.name} to folder`,
      group,
      icon: FolderInput,
      run: () => onEdit('folder'),
    },
    { id: 'prompts.tag', title: `Tag ${prompt.name}`, group, icon: Hash, keys: 'T', run: () => onEdit('tags') },
    { id: 'prompts.labels', title: `Show label history of ${prompt.name}`, group, icon: History, run: onLabels },
    { id: 'prompts.duplicate', title: `Duplicate ${prompt.name}`, group, icon: Copy, run: commands.duplicate },
    {
      id: 'prompts.restore',
      title: `Restore version ${version?.number ?? ''}`,
      group,
      icon: RotateCcw,
      isEnabled: version !== undefined && !isNewest,
      run: () => version && commands.restore(version),
    },
    {
      id: 'prompts.add-to-comparison',
      title: `Add version ${version?.number ?? ''} to a comparison`,
      group,
      icon: Columns3,
      isEnabled: version !== undefined,
      run: () => version && void commands.compare(version),
    },
    { id: 'prompts.delete', title: `Delete ${prompt.name}`, group, icon: Trash2, keys: 'Delete', run: commands.remove },
    { id: 'prompts.show.version', title: 'Show version', group, keys: 'V', run: () => show('version') },
    { id: 'prompts.show.compare', title: 'Compare versions', group, keys: 'C', run: () => show('compare') },
    { id: 'prompts.show.run', title: 'Run version', group, keys: 'R', run: () => show('run') },
  ]);
}

function MoreMenu({ prompt, commands, onEdit, onLabels }: Omit<PromptHeadProps, 'version' | 'isNewest'>) {
  return (
    <Menu
      align="end"
      groups={[
        [
          { label: 'Rename', icon: Pencil, keys: 'F2', onSelect: () => onEdit('name') },
          { label: 'Move to folder', icon: FolderInput, onSelect: () => onEdit('folder') },
          { label: 'Change tags', icon: Hash, keys: 'T', onSelect: () => onEdit('tags') },
          { label: 'Label history', icon: History, onSelect: onLabels },
          { label: 'Duplicate', icon: Copy, onSelect: commands.duplicate },
        ],
        [{ label: 'Delete', icon: Trash2, isNegative: true, onSelect: commands.remove }],
      ]}
    >
      <IconButton icon={Ellipsis} label={`More for ${prompt.name}`} size="small" />
    </Menu>
  );
}

/** The prompt's name, folder and actions. */
export function PromptHead({ prompt, version, isNewest, commands, onEdit, onLabels }: PromptHeadProps) {
  const [address] = useLocation();
  return (
    <div className="prompts__head">
      <div className="row">
        <h2 className="object-title truncate" title={prompt.name}>
          {prompt.name}
        </h2>
        {version && !isNewest && <Badge tone="caution">Version {version.number}, not latest</Badge>}
        <span className="grow" />
        {version && !isNewest && (
          <Button size="small" icon={RotateCcw} onClick={() => commands.restore(version)}>
            Restore
          </Button>
        )}
        <Button
          size="small"
          icon={Columns3}
          aria-disabled={!version || undefined}
          onClick={() => version && void commands.compare(version)}
        >
          Add to comparison
        </Button>
        <Button
          size="small"
          variant="primary"
          icon={SquareTerminal}
          keys="O"
          aria-disabled={!version || undefined}
          onClick={() => version && commands.openInPlayground(version.id)}
        >
          Open
        </Button>
        <CopyLink address={address} size="small" />
        <MoreMenu {...{ prompt, commands, onEdit, onLabels }} />
      </div>
      <p className="row caption tertiary">
        <span className="nowrap">{prompt.folder ?? 'No folder'}</span>
        {prompt.tags.map((tag) => (
          <Badge key={tag} isOutlined>
            {tag}
          </Badge>
        ))}
        {prompt.description !== null && (
          <span className="truncate secondary" title={prompt.description}>
            {prompt.description}
          </span>
        )}
      </p>
    </div>
  );
}
