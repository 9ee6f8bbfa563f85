import { useMemo } from 'react';
import { type FileKind, fileKindOf } from '../../../../shared/file-kinds.ts';
import { parseTemplate } from '../../../../shared/prompt-template.ts';
import { fileIdsOf } from '../../../drafts/file-values.ts';
import { readFields } from '../../../drafts/variable-model.ts';
import { useFiles } from '../../../queries/files.ts';
import type { Draft } from '../../../stores/playground-drafts.ts';

/** The kinds of the files that a draft sends; none for null. */
export function useFileKinds(draft: Draft | null): readonly FileKind[] {
  const ids = useMemo(
    () => (draft === null ? [] : fileIdsOf(readFields(parseTemplate(draft.promptText).variables, draft))),
    [draft],
  );
  const files = useFiles(ids);
  return useMemo(
    () => [...new Set(Object.values(files).flatMap((file) => (file ? [fileKindOf(file.mediaType)] : [])))],
    [files],
  );
}
