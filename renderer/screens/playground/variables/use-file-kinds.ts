import { useMemo } from 'react';
import { type FileKind, fileKindOf } from '../../../../shared/file-kinds.ts';
import { parseTemplate } from '../../../../shared/prompt-template.ts';
import { fileValuesOf, sentKinds } from '../../../drafts/file-values.ts';
import { readFields } from '../../../drafts/variable-model.ts';
import { useFiles } from '../../../queries/files.ts';
import type { Draft } from '../../../stores/playground-drafts.ts';

/** The kinds of the files that a draft sends; none for null. */
export function useFileKinds(draft: Draft | null): readonly FileKind[] {
  const values = useMemo(
    () => (draft === null ? [] : fileValuesOf(readFields(parseTemplate(draft.promptText).variables, draft))),
    [draft],
  );
  const files = useFiles(values.map(({ fileId }) => fileId));
  return useMemo(() => {
    const kinds = values.flatMap(({ fileId, as }) => {
      const file = files[fileId];
      return file ? [sentKinds[as ?? 'file'] ?? fileKindOf(file.mediaType)] : [];
    });
    return [...new Set(kinds)];
  }, [files, values]);
}
