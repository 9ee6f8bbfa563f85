import { FolderOpen, Link2, RefreshCw, Unlink } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { choosePromptFolder } from '../../../../shared/contract/host-specific.ts';
import { Button } from '../../../components/button.tsx';
import { describeError, Notice } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useCapability, useHost } from '../../../host/host-context.tsx';
import { showToast } from '../../../stores/toasts.ts';
import { issueWords, openFile, useLinkFolder, useRescan, useUnlinkFolder } from './linked-folders.ts';
import type { FolderIssue, PromptFolder } from '../../../../shared/contract/prompt-folders.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { formatPlural } from '../../../components/format.ts';
import { Badge } from '../../../components/badges.tsx';

/** Opens the system's dialog for folders. */
function ChooseButton({ onChoose }: { onChoose: (path: string) => void }) {
  const { client } = useHost();
  const choose = async (): Promise<void> => {
    try {
      const { path } = await client.call(choosePromptFolder);
      if (path !== null) onChoose(path);
    } catch (error) {
      const { message, requestId } = describeError(error);
      showToast({ tone: 'negative', text: message, requestId });
    }
  };
  return (
    <Button size="small" icon={FolderOpen} onClick={() => void choose()}>
      Choose
    </Button>
  );
}

/** Links a folder. Its path is typed, or chosen in the system's dialog where there is one. */
function LinkForm() {
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
  const choose = (chosen: string): void => {
    setPath(chosen);
    link.reset();
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
        onValueChange={choose}
        end={hasDialog && <ChooseButton onChoose={choose} />}
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

function Issue({ folder, issue }: { folder: PromptFolder; issue: FolderIssue }) {
  const { mark, tone } = issueWords[issue.kind];
  const verb = issue.kind === 'conflict' ? 'Compare' : 'Resolve';
  return (
    <li className="linked__issue">
      <Badge tone={tone}>{mark}</Badge>
      <span className="linked__reason">
        <span className="mono--small truncate">{issue.path}</span>
        <span className="small secondary">
          {issue.message}
          {issue.line !== null && `, line ${issue.line}`}
        </span>
      </span>
      {issue.promptId !== null && (
        <Button size="small" aria-label={`${verb} ${issue.path}`} onClick={() => openFile(folder.id, issue.path)}>
          {verb}
        </Button>
      )}
    </li>
  );
}

function Linked({ folder }: { folder: PromptFolder }) {
  const rescan = useRescan();
  const unlink = useUnlinkFolder();
  return (
    <section className="linked" aria-label={folder.folder}>
      <div className="row">
        <h3 className="truncate">{folder.folder}</h3>
        <span className="caption tertiary nowrap">{formatPlural(folder.files, 'file')}</span>
        <span className="grow" />
        <Button
          icon={RefreshCw}
          size="small"
          variant="quiet"
          aria-label={`Rescan ${folder.folder}`}
          isBusy={rescan.isPending}
          onClick={() => rescan.mutate(folder.id)}
        >
          Rescan
        </Button>
        <Button
          icon={Unlink}
          size="small"
          variant="quiet"
          aria-label={`Unlink ${folder.folder} (files and prompts are kept)`}
          isBusy={unlink.isPending}
          onClick={() => unlink.mutate(folder.id)}
        >
          Unlink
        </Button>
      </div>
      <p className="mono--small tertiary linked__path">{folder.path}</p>
      {folder.failure !== null && (
        <Notice tone={folder.state === 'unavailable' ? 'caution' : 'neutral'}>{folder.failure}</Notice>
      )}
      {folder.issues.length > 0 && (
        <ul className="linked__issues">
          {folder.issues.map((issue) => (
            <Issue key={`${issue.kind} ${issue.path}`} folder={folder} issue={issue} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** The linked folders with their issues, and the form that links another one. */
export function FoldersDialog({ folders, onClose }: { folders: readonly PromptFolder[]; onClose: () => void }) {
  return (
    <Dialog title="Linked folders" isOpen isWide onClose={onClose} footer={<Button onClick={onClose}>Close</Button>}>
      <div className="linked__all">
        {folders.map((folder) => (
          <Linked key={folder.id} folder={folder} />
        ))}
        <LinkForm />
      </div>
    </Dialog>
  );
}
