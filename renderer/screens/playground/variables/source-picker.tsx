import { useState } from 'react';
import type { StoredFile } from '../../../../shared/contract/files.ts';
import { Button } from '../../../components/button.tsx';
import { Popover } from '../../../components/popover.tsx';
import { describeError } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useStoreSource } from '../../../queries/files.ts';
import { useDataspaces, useSourcesNamed } from '../../../queries/knowledge.ts';

/** Sources by their names, to send the original of one. */
function SourceList({ onFile }: { onFile: (file: StoredFile) => void }) {
  const [text, setText] = useState('');
  const found = useSourcesNamed(text).data ?? [];
  const store = useStoreSource();
  return (
    <>
      <TextField
        label="Source"
        size="small"
        type="search"
        autoFocus
        placeholder="Part of its name"
        value={text}
        error={store.error ? describeError(store.error).message : null}
        onValueChange={(next) => {
          setText(next);
          store.reset();
        }}
      />
      {text.trim() !== '' && found.length === 0 && <p className="caption tertiary">No matching sources</p>}
      <ul className="file-field__sources" aria-label="Sources">
        {found.map(({ id, fileName }) => (
          <li key={id}>
            <Button
              size="small"
              variant="quiet"
              isBusy={store.isPending && store.variables === id}
              onClick={() => store.mutate(id, { onSuccess: onFile })}
            >
              <span className="truncate">{fileName}</span>
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Chooses a source of a dataspace, whose original becomes the file. Nothing while there are no sources. */
export function SourcePicker({ onFile }: { onFile: (file: StoredFile) => void }) {
  const dataspaces = useDataspaces().data ?? [];
  if (!dataspaces.some(({ sources }) => sources > 0)) return null;
  return (
    <Popover
      label="Choose source"
      align="start"
      className="file-field__source-panel"
      trigger={
        <Button size="small" variant="quiet">
          Choose source
        </Button>
      }
    >
      <SourceList onFile={onFile} />
    </Popover>
  );
}
