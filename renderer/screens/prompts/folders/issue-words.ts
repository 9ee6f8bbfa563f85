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
  conflict: { mark: 'Both changed', tone: 'caution', mine: 'Keep the prompt', file: 'Take the file' },
  broken: { mark: 'Not readable', tone: 'negative', mine: 'Write the prompt over it', file: null },
  partial: { mark: 'Partial', tone: 'neutral', mine: null, file: null },
  'file-missing': { mark: 'File gone', tone: 'neutral', mine: 'Write the file', file: 'Delete the prompt too' },
  'prompt-deleted': {
    mark: 'Prompt deleted',
    tone: 'neutral',
    mine: 'Delete the file too',
    file: 'Bring the prompt back',
  },
  'not-written': { mark: 'Not written', tone: 'caution', mine: 'Write it anyway', file: 'Take the file' },
};

/** How many of them ask for a decision; files that are gone or cannot be read may stay as they are. */
export function waiting(issues: readonly FolderIssue[]): number {
  return issues.filter(({ kind }) => kind === 'conflict' || kind === 'not-written').length;
}
