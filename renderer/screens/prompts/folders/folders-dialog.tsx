import { RefreshCw, Unlink } from 'lucide-react';
import type { FolderIssue, PromptFolder } from '../../../../shared/contract/prompt-folders.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatPlural } from '../../../components/format.ts';
import { Badge } from '../../../components/marks.tsx';
import { Notice } from '../../../components/state-panels.tsx';
import { useLookAgain, useUnlinkFolder } from './folder-queries.ts';
import { openFile } from './folders-state.ts';
import { issueWords } from './issue-words.ts';
import { LinkForm } from './link-form.tsx';

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
  const look = useLookAgain();
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
          isBusy={look.isPending}
          onClick={() => look.mutate(folder.id)}
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

/** The linked folders, what of them is not in step, and the form that links another one. */
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
