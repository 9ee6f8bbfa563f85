import { useMemo } from 'react';
import { fileKindOf } from '../../../../shared/file-kinds.ts';
import { parseTemplate } from '../../../../shared/prompt-template.ts';
import type { ModelNeeds } from '../../../components/models/model-list.ts';
import { fileValuesOf, sentKinds } from '../../../drafts/file-values.ts';
import { readFields } from '../../../drafts/variable-model.ts';
import { useFiles } from '../../../queries/files.ts';
import type { Draft } from '../../../stores/playground-drafts.ts';

/** What a draft needs of its model: nothing for null. */
export function useModelNeeds(draft: Draft | null): ModelNeeds {
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
    const hasTools = draft?.tools?.some(({ kind }) => kind === 'function') ?? false;
    return { files: [...new Set(kinds)], hasTools };
  }, [draft, files, values]);
}
