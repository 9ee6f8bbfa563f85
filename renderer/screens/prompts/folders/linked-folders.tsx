import { FolderSync } from 'lucide-react';
import { useActions } from '../../../stores/actions.ts';
import { FileDialog } from './file-dialog.tsx';
import { useFollowPromptFolders } from './folder-queries.ts';
import { FoldersDialog } from './folders-dialog.tsx';
import { closeFolders, openFolders, useFoldersState } from './folders-state.ts';
import './folders.css';

/** The dialogs of the linked folders and their command. */
export function LinkedFolders() {
  const { open } = useFoldersState();
  const folders = useFollowPromptFolders();
  useActions('prompt-folders', [
    {
      id: 'prompts.folders',
      title: 'Show linked folders',
      group: 'Prompts',
      icon: FolderSync,
      run: openFolders,
    },
  ]);
  if (open === 'nothing') return null;
  const folder = open === 'folders' ? undefined : folders.find(({ id }) => id === open.folderId);
  if (open === 'folders' || folder === undefined) return <FoldersDialog folders={folders} onClose={closeFolders} />;
  return <FileDialog key={open.path} folder={folder} path={open.path} />;
}
