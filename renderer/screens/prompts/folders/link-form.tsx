import { FolderOpen, Link2 } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { choosePromptFolder } from '../../../../shared/contract/desktop.ts';
import { Button } from '../../../components/button.tsx';
import { describeError } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useCapability, useHost } from '../../../host/host-context.tsx';
import { showToast } from '../../../stores/toasts.ts';
import { useLinkFolder } from './folder-queries.ts';

/** Links a folder: chosen in the system's dialog where there is one, otherwise written down. */
export function LinkForm() {
  const { client } = useHost();
  const hasDialog = useCapability('native-dialogs');
  const [path, setPath] = useState('');
  const [folder, setFolder] = useState('');
  const link = useLinkFolder();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (path.trim() === '') return;
    const onSuccess = (): void => {
      setPath('');
      setFolder('');
    };
    link.mutate({ path: path.trim(), folder: folder.trim() || null }, { onSuccess });
  };
  const choose = async (): Promise<void> => {
    try {
      const chosen = await client.call(choosePromptFolder);
      if (chosen.path === null) return;
      setPath(chosen.path);
      link.reset();
    } catch (error) {
      const { message, requestId } = describeError(error);
      showToast({ tone: 'negative', text: message, requestId });
    }
  };
  return (
    <form className="prompts__form" aria-label="Link a folder" onSubmit={submit}>
      <TextField
        label="Folder on this device"
        isMono
        maxLength={4000}
        placeholder="/home/ada/prompts"
        value={path}
        error={link.error ? describeError(link.error).message : null}
        hint="Its .prompt files become prompts, and saved versions are written back to the files. Works with Git."
        onValueChange={(next) => {
          setPath(next);
          link.reset();
        }}
        end={
          hasDialog && (
            <Button size="small" icon={FolderOpen} onClick={() => void choose()}>
              Choose
            </Button>
          )
        }
      />
      <TextField
        label="Library folder"
        maxLength={500}
        placeholder="Same name as the folder"
        value={folder}
        onValueChange={setFolder}
      />
      <div className="row">
        <Button
          type="submit"
          variant="primary"
          icon={Link2}
          isBusy={link.isPending}
          aria-disabled={path.trim() === '' || undefined}
        >
          Link folder
        </Button>
      </div>
    </form>
  );
}
