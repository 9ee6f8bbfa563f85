import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { Ellipsis, Plus } from 'lucide-react';
import type { Dataspace } from '../../../shared/contract/dataspaces.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { describeError } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useCreateDataspace, useRemoveDataspace, useRenameDataspace } from '../../queries/knowledge.ts';
import { dataspaceAddress } from '../../shell/addresses.ts';
import type { DataspaceSummary } from '../../../shared/contract/knowledge-window.ts';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { formatCount, formatPlural } from '../../components/format.ts';
import { Badge } from '../../components/badges.tsx';
import { Menu } from '../../components/menu.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';

interface NameFormProps {
  /** The dataspace to rename; null creates one. */
  dataspace: Dataspace | null;
  onDone: () => void;
}

/** The form that creates or renames a dataspace. */
function NameForm({ dataspace, onDone }: NameFormProps) {
  const [name, setName] = useState(dataspace?.name ?? '');
  const [, navigate] = useLocation();
  const field = useRef<HTMLInputElement>(null);
  const create = useCreateDataspace();
  const rename = useRenameDataspace();
  const { error } = dataspace ? rename : create;
  useEffect(() => {
    field.current?.select();
  }, []);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const trimmedName = name.trim();
    if (trimmedName === '') return field.current?.focus();
    if (dataspace) return rename.mutate({ id: dataspace.id, name: trimmedName }, { onSuccess: onDone });
    create.mutate(trimmedName, {
      onSuccess: ({ id }) => {
        onDone();
        navigate(dataspaceAddress(id));
      },
    });
  };

  return (
    <form
      className="knowledge__name line-bottom"
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && onDone()}
    >
      <TextField
        ref={field}
        label={dataspace ? 'New name' : 'Dataspace name'}
        size="small"
        maxLength={300}
        value={name}
        onValueChange={setName}
        error={error ? describeError(error).message : null}
      />
      <div className="row">
        <Button size="small" variant="primary" type="submit" isBusy={create.isPending || rename.isPending}>
          {dataspace ? 'Rename' : 'Create dataspace'}
        </Button>
        <Button size="small" variant="quiet" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

const rowHeight = 48;

function Row({ dataspace }: { dataspace: DataspaceSummary }) {
  const { name, sources, passages, processing, failed } = dataspace;
  return (
    <div className="list-row">
      <span className="medium truncate">{name}</span>
      <span className="row">
        <span className="caption tertiary truncate grow">
          {formatPlural(sources, 'source')}, {formatPlural(passages, 'passage')}
        </span>
        {processing > 0 && <Badge tone="accent">{formatCount(processing)} remaining</Badge>}
        {failed > 0 && <Badge tone="negative">{formatCount(failed)} failed</Badge>}
      </span>
    </div>
  );
}

function RemoveDialog({ dataspace, onClose }: { dataspace: DataspaceSummary; onClose: () => void }) {
  const remove = useRemoveDataspace();
  const [, navigate] = useLocation();
  return (
    <ConfirmDialog
      title={`Delete dataspace "${dataspace.name}"?`}
      isOpen
      onClose={onClose}
      action="Delete dataspace"
      isBusy={remove.isPending}
      onConfirm={() =>
        remove.mutate(dataspace.id, {
          onSuccess: () => {
            onClose();
            navigate('/knowledge');
          },
        })
      }
    >
      {dataspace.sources === 0
        ? 'It has no sources. Runs that used it keep their citations.'
        : `This deletes ${formatPlural(dataspace.sources, 'source')} with all passages and can't be undone. Runs that used them keep their citations.`}
    </ConfirmDialog>
  );
}

interface DataspaceListProps {
  dataspaces: readonly DataspaceSummary[];
  selected: DataspaceSummary | undefined;
  isNaming: boolean;
  onNaming: (isNaming: boolean) => void;
}

/** The dataspaces, with forms to create, rename and delete them. */
export function DataspaceList({ dataspaces, selected, isNaming, onNaming }: DataspaceListProps) {
  const [, navigate] = useLocation();
  const [isRenaming, setRenaming] = useState(false);
  const [isRemoving, setRemoving] = useState(false);
  return (
    <section className="panel panel--inset line-right knowledge__dataspaces" aria-label="Dataspaces">
      <div className="header line-bottom knowledge__head">
        <h2>Dataspaces</h2>
        <span className="grow" />
        {selected && (
          <Menu
            align="end"
            groups={[
              [{ label: 'Rename', onSelect: () => setRenaming(true) }],
              [{ label: 'Delete', isNegative: true, onSelect: () => setRemoving(true) }],
            ]}
          >
            <IconButton icon={Ellipsis} label={`More actions for ${selected.name}`} size="small" />
          </Menu>
        )}
        <IconButton icon={Plus} label="Create dataspace" size="small" onClick={() => onNaming(true)} />
      </div>
      {isNaming && <NameForm dataspace={null} onDone={() => onNaming(false)} />}
      {isRenaming && selected && <NameForm key={selected.id} dataspace={selected} onDone={() => setRenaming(false)} />}
      <VirtualList
        label="Dataspaces, newest first"
        className="list-rows"
        items={dataspaces}
        itemKey={({ id }) => id}
        rowHeight={rowHeight}
        selectedKey={selected?.id ?? null}
        onSelect={({ id }) => id !== selected?.id && navigate(dataspaceAddress(id))}
        renderItem={(dataspace) => <Row dataspace={dataspace} />}
      />
      {isRemoving && selected && <RemoveDialog dataspace={selected} onClose={() => setRemoving(false)} />}
    </section>
  );
}
