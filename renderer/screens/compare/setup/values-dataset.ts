import type { DatasetInput } from '../../../../shared/contract/datasets.ts';
import { parseTemplate } from '../../../../shared/prompt-template.ts';
import { readFileValues } from '../../../drafts/file-values.ts';
import { readFields } from '../../../drafts/variable-model.ts';
import type { Draft } from '../../../stores/playground-drafts.ts';

/** A dataset with the values of the open prompt as its first row; null if it has no variables. */
export function valuesDataset(draft: Draft): DatasetInput | null {
  const fields = readFields(parseTemplate(draft.promptText).variables, draft);
  if (fields.length === 0) return null;
  const columns = fields.map(({ name, kind, isJson }) => ({
    name,
    type: kind === 'file' ? ('file' as const) : isJson ? ('json' as const) : ('text' as const),
  }));
  const row = Object.fromEntries(
    fields.flatMap(({ name, kind, isJson, isFilled, problem, text }) => {
      if (!isFilled || problem !== null) return [];
      if (kind === 'file') return (readFileValues(text) ?? []).map(({ fileId }) => [name, { fileId }]);
      return [[name, isJson ? (JSON.parse(text) as unknown) : text]];
    }),
  ) as Record<string, unknown>;
  return { name: `Values of ${draft.name}`.slice(0, 300), columns, rows: [row] };
}
