import { create } from 'zustand';

/** What of the linked folders is open: all of them, or one file that waits for a decision. */
interface FoldersState {
  open: 'nothing' | 'folders' | { folderId: string; path: string };
}

export const useFoldersState = create<FoldersState>(() => ({ open: 'nothing' }));

export const openFolders = (): void => useFoldersState.setState({ open: 'folders' });
export const openFile = (folderId: string, path: string): void =>
  useFoldersState.setState({ open: { folderId, path } });
export const closeFolders = (): void => useFoldersState.setState({ open: 'nothing' });
