import type { FolderIssue } from '../../../../shared/contract/prompt-folders.ts';

interface IssueWords {
  /** What it is, on a badge. */
  readonly mark: string;
  readonly tone: 'neutral' | 'caution' | 'negative';
  /** What to do about it; null where only the file itself can be mended. */
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

/** How many of them ask for a decision; files that are gone or cannot be read may stay as they are. */
export function waiting(issues: readonly FolderIssue[]): number {
  return issues.filter(({ kind }) => kind === 'conflict' || kind === 'not-written').length;
}
