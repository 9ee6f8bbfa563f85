import { create } from 'zustand';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import {
  type FolderFile,
  type FolderIssue,
  followPromptFolders,
  linkPromptFolder,
  listPromptFolders,
  type PromptFolder,
  readFolderFile,
  readPromptFolder,
  resolveFolderFile,
  unlinkPromptFolder,
} from '../../../../shared/contract/prompt-folders.ts';
import { useHost } from '../../../host/host-context.tsx';
import { useFollowedList } from '../../../queries/follow.ts';
import { promptsKey } from '../../../queries/prompts.ts';

/** The open dialog: all linked folders, or one file with a conflict. */
interface FoldersState {
  open: 'nothing' | 'folders' | { folderId: string; path: string };
}

export const useFoldersState = create<FoldersState>(() => ({ open: 'nothing' }));

export const openFolders = (): void => useFoldersState.setState({ open: 'folders' });
export const openFile = (folderId: string, path: string): void =>
  useFoldersState.setState({ open: { folderId, path } });
export const closeFolders = (): void => useFoldersState.setState({ open: 'nothing' });

interface IssueWords {
  /** The issue, on a badge. */
  readonly mark: string;
  readonly tone: 'neutral' | 'caution' | 'negative';
  /** How to resolve it; null if only a change of the file can. */
  readonly mine: string | null;
  readonly file: string | null;
}

export const issueWords: Readonly<Record<FolderIssue['kind'], IssueWords>> = {
  conflict: { mark: 'Both changed', tone: 'caution', mine: 'Use library version', file: 'Use file' },
  broken: { mark: 'Unreadable', tone: 'negative', mine: 'Overwrite file', file: null },
  partial: { mark: 'Partial', tone: 'neutral', mine: null, file: null },
  'file-missing': { mark: 'File missing', tone: 'neutral', mine: 'Restore file', file: 'Delete prompt' },
  'prompt-deleted': {
    mark: 'Prompt deleted',
    tone: 'neutral',
    mine: 'Delete file',
    file: 'Restore prompt',
  },
  'not-written': { mark: 'Not written', tone: 'caution', mine: 'Overwrite file', file: 'Use file' },
};

/** The words of the buttons that resolve an issue; null for a side that can't be used. */
export function choicesOf({ issue, file }: Pick<FolderFile, 'issue' | 'file'>): Pick<IssueWords, 'mine' | 'file'> {
  const words = issueWords[issue.kind];
  if (file !== null || issue.kind === 'file-missing') return words;
  return { mine: issue.kind === 'not-written' ? 'Write file' : words.mine, file: null };
}

/** The number of conflicts; missing and unreadable files don't have to be resolved. */
export function waiting(issues: readonly FolderIssue[]): number {
  return issues.filter(({ kind }) => kind === 'conflict' || kind === 'not-written').length;
}

const foldersKey = ['prompt-folders'] as const;
const noFolders: readonly PromptFolder[] = [];

/** The linked folders; `useFollowPromptFolders` keeps them fresh. */
export function usePromptFolders(): readonly PromptFolder[] {
  const { client } = useHost();
  const folders = useQuery({
    queryKey: foldersKey,
    queryFn: ({ signal }) => client.call(listPromptFolders, { signal }),
  });
  return folders.data?.data ?? noFolders;
}

/** The same, updated by the host's events. Used once per screen. */
export function useFollowPromptFolders(): readonly PromptFolder[] {
  const folders = useFollowedList(
    foldersKey,
    (client, signal) => client.call(listPromptFolders, { signal }),
    followPromptFolders,
  );
  return folders.data?.data ?? noFolders;
}

function useRenew() {
  const queryClient = useQueryClient();
  return () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: foldersKey }),
      queryClient.invalidateQueries({ queryKey: promptsKey }),
    ]);
}

/** The caller shows the error. */
export function useLinkFolder() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: { path: string; folder: string | null }) => client.call(linkPromptFolder, { body }),
    onSettled: useRenew(),
  });
}

export function useUnlinkFolder() {
  const { client } = useHost();
  return useMutation({
    mutationFn: (id: string) => client.call(unlinkPromptFolder, { parameters: { id } }),
    onSettled: useRenew(),
  });
}

export function useRescan() {
  const { client } = useHost();
  return useMutation({
    mutationFn: (id: string) => client.call(readPromptFolder, { parameters: { id } }),
    onSettled: useRenew(),
  });
}

/** Both sides of a file in conflict. Refetched each time they are shown: a decision applies to the current content. */
export function useFolderFile(id: string, path: string) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...foldersKey, 'file', id, path],
    gcTime: 0,
    staleTime: Infinity,
    queryFn: ({ signal }) => client.call(readFolderFile, { signal, parameters: { id }, body: { path } }),
  });
}

export type Settlement = z.input<NonNullable<(typeof resolveFolderFile)['body']>>;

/** The caller shows the error. */
export function useResolveConflict(id: string) {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: Settlement) => client.call(resolveFolderFile, { parameters: { id }, body }),
    onSettled: useRenew(),
  });
}
