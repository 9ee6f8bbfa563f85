import { useEffect, useRef, useState, type FormEvent } from 'react';
import { useLocation } from 'wouter';
import type { Dataspace } from '../../../shared/contract/dataspaces.ts';
import { Button } from '../../components/button.tsx';
import { describeError } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useCreateDataspace, useRenameDataspace } from '../../queries/knowledge.ts';
import { dataspaceAddress } from '../../shell/addresses.ts';

interface NameFormProps {
  /** The one to rename; null makes a new one. */
  dataspace: Dataspace | null;
  onDone: () => void;
}

/** The name of a new dataspace, or another one for one that is there. */
export function NameForm({ dataspace, onDone }: NameFormProps) {
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
    const wanted = name.trim();
    if (wanted === '') return field.current?.focus();
    if (dataspace) return rename.mutate({ id: dataspace.id, name: wanted }, { onSuccess: onDone });
    create.mutate(wanted, {
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
