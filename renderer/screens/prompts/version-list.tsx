import { Plus, X } from 'lucide-react';
import { type FormEvent, useId, useState } from 'react';
import type { Prompt, PromptVersion } from '../../../shared/contract/prompts.ts';
import { Button } from '../../components/button.tsx';
import { Popover } from '../../components/popover.tsx';
import { describeError } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useRemoveLabel, useSetLabel } from '../../queries/prompt-details.ts';
import { showToast } from '../../stores/toasts.ts';
import type { PromptVersionUsage } from '../../../shared/contract/prompt-library.ts';
import { modelNameOf } from '../../../shared/prompt-content.ts';
import { formatTime } from '../../components/format.ts';
import { Badge } from '../../components/badges.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { averages, runCount } from './library-model.ts';

/** The usual label of the version in use. */
const usualLabels = ['production', 'staging'];

interface VersionLabelsProps {
  prompt: Prompt;
  version: PromptVersion;
}

/** Removes a label from a version; a toast offers Undo. */
function useTakeOff({ prompt, version }: VersionLabelsProps): (label: string) => void {
  const set = useSetLabel();
  const remove = useRemoveLabel();
  const tell = (cause: unknown): void => {
    const { message, requestId } = describeError(cause);
    showToast({ tone: 'negative', text: message, requestId });
  };
  return (label) => {
    const back = { promptId: prompt.id, label, promptVersionId: version.id, previousVersionId: null };
    remove.mutate(
      { promptId: prompt.id, label },
      {
        onError: tell,
        onSuccess: () =>
          showToast({
            tone: 'neutral',
            text: `Removed label "${label}" from version ${version.number}.`,
            action: { label: 'Undo', run: () => set.mutate(back, { onError: tell }) },
          }),
      },
    );
  };
}

function LabelForm({ prompt, version, onClose }: VersionLabelsProps & { onClose: () => void }) {
  const listId = useId();
  const [label, setLabel] = useState('');
  const set = useSetLabel();
  const elsewhere = prompt.labels.filter(({ promptVersionId }) => promptVersionId !== version.id);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const name = label.trim();
    if (name === '') return;
    // The label is moved from the version that this window shows: someone else may have moved it meanwhile.
    const previousVersionId = prompt.labels.find((one) => one.label === name)?.promptVersionId ?? null;
    set.mutate(
      { promptId: prompt.id, label: name, promptVersionId: version.id, previousVersionId },
      { onSuccess: onClose },
    );
  };
  const suggestions = [...new Set([...elsewhere.map((one) => one.label), ...usualLabels])];
  return (
    <form className="prompts__form label-form" onSubmit={submit}>
      <TextField
        label="Label"
        autoFocus
        list={listId}
        maxLength={100}
        placeholder="production"
        hint={
          elsewhere.some((one) => one.label === label.trim())
            ? 'Moves the label from another version'
            : 'API calls that use this label run this version'
        }
        error={set.error && describeError(set.error).message}
        value={label}
        onValueChange={setLabel}
      />
      <datalist id={listId}>
        {suggestions.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Button type="submit" variant="primary" isBusy={set.isPending} aria-disabled={label.trim() === '' || undefined}>
        Set label
      </Button>
    </form>
  );
}

/** The labels of a version, with buttons to remove one and to add another. */
export function VersionLabels(props: VersionLabelsProps) {
  const { prompt, version } = props;
  const [isOpen, setOpen] = useState(false);
  const takeOff = useTakeOff(props);
  const own = prompt.labels.filter(({ promptVersionId }) => promptVersionId === version.id);
  return (
    <span className="row version-labels">
      {own.map(({ label }) => (
        <span key={label} className="badge badge--accent version-labels__label">
          {label}
          <button type="button" aria-label={`Remove label ${label}`} onClick={() => takeOff(label)}>
            <X className="icon icon--tiny" />
          </button>
        </span>
      ))}
      <Popover
        label={`Add a label to version ${version.number}`}
        isOpen={isOpen}
        onOpenChange={setOpen}
        trigger={
          <Button size="small" variant="quiet" icon={Plus}>
            Label
          </Button>
        }
      >
        <LabelForm {...props} onClose={() => setOpen(false)} />
      </Popover>
    </span>
  );
}

const rowHeight = 78;

interface VersionListProps {
  versions: readonly PromptVersion[];
  labels: Prompt['labels'];
  /** Undefined while it loads. */
  usage: ReadonlyMap<string, PromptVersionUsage> | undefined;
  selectedId: string | null;
  onSelect: (version: PromptVersion) => void;
  onOpen: (version: PromptVersion) => void;
  onEndReached: () => void;
}

interface RowProps {
  version: PromptVersion;
  labels: readonly string[];
  usage: PromptVersionUsage | undefined;
}

function Row({ version, labels, usage }: RowProps) {
  return (
    <div className="list-row">
      <span className="row">
        <span className="medium nowrap">Version {version.number}</span>
        <span className="row grow version-row__labels">
          {labels.map((label) => (
            <Badge key={label} isOutlined>
              {label}
            </Badge>
          ))}
        </span>
        <span className="caption tertiary numbers nowrap">{formatTime(version.createdAt)}</span>
      </span>
      <span className="caption secondary truncate">{version.note ?? <span className="tertiary">No note</span>}</span>
      <span className="caption tertiary truncate">{modelNameOf(version).model}</span>
      {usage && (
        <span className="caption tertiary numbers truncate">
          {usage.runs === 0 ? 'Not run yet' : [runCount(usage), ...averages(usage)].join(', ')}
        </span>
      )}
    </div>
  );
}

/** The versions of a prompt, newest first. */
export function VersionList(props: VersionListProps) {
  const { versions, labels, usage, selectedId, onSelect, onOpen, onEndReached } = props;
  const labelsOf = ({ id }: PromptVersion) =>
    labels.filter(({ promptVersionId }) => promptVersionId === id).map(({ label }) => label);
  return (
    <VirtualList
      label="Versions, newest first. Press Enter to open one in the playground"
      className="list-rows"
      items={versions}
      itemKey={({ id }) => id}
      rowHeight={rowHeight}
      selectedKey={selectedId}
      onSelect={onSelect}
      onOpen={onOpen}
      onEndReached={onEndReached}
      renderItem={(version) => <Row version={version} labels={labelsOf(version)} usage={usage?.get(version.id)} />}
    />
  );
}
