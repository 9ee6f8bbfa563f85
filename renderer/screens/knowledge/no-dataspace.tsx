import { FilePlus2, FolderPlus } from 'lucide-react';
import type { RefObject } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/state-panels.tsx';
import { useHost } from '../../host/host-context.tsx';
import { defaultDataspace, useCreateDefaultDataspace } from '../../queries/knowledge.ts';
import { dataspaceAddress } from '../../shell/addresses.ts';
import { uploadFiles, type ChosenFile } from '../../stores/knowledge.ts';
import { DropZone } from './drop-zone.tsx';
import { FilePicker, tellNothingAdded } from './file-picker.tsx';

const dataspaceReason =
  'A dataspace holds files that prompts are answered from. Files are parsed, chunked and indexed on this device. Nothing leaves it until a run sends passages to a model.';

/** In place of a dataspace that is not there any more. */
export function MissingDataspace({ onNew }: { onNew: () => void }) {
  return (
    <div className="list-state">
      <EmptyState title="Dataspace not found" reason="It was deleted, or the link is incomplete.">
        <Button variant="primary" icon={FolderPlus} onClick={onNew}>
          Create dataspace
        </Button>
      </EmptyState>
    </div>
  );
}

/** Where there is none yet: files that are added make the one that programs use, too, when they name none. */
export function NoDataspace({ picker, onNew }: { picker: RefObject<HTMLInputElement | null>; onNew: () => void }) {
  const { client } = useHost();
  const [, navigate] = useLocation();
  const { mutateAsync: createDefault, isPending } = useCreateDefaultDataspace();
  const addFiles = (files: readonly ChosenFile[]): void => {
    if (files.length === 0) return tellNothingAdded();
    if (isPending) return;
    void createDefault().then(
      ({ id }) => {
        uploadFiles(client, id, files);
        navigate(dataspaceAddress(id));
      },
      () => {
        // A toast has said why.
      },
    );
  };
  return (
    <DropZone label={`Drop files to add them to a new dataspace "${defaultDataspace}"`} onFiles={addFiles}>
      <FilePicker picker={picker} onFiles={addFiles} />
      <div className="list-state">
        <EmptyState
          title="No dataspaces yet"
          reason={`${dataspaceReason} Drop files here, or create a dataspace first.`}
        >
          <Button variant="primary" icon={FilePlus2} isBusy={isPending} onClick={() => picker.current?.click()}>
            Add files
          </Button>
          <Button icon={FolderPlus} onClick={onNew}>
            Create dataspace
          </Button>
        </EmptyState>
      </div>
    </DropZone>
  );
}
