import { Braces, ListPlus } from 'lucide-react';
import { memo, useId, useMemo, useState } from 'react';
import { classNames } from '../../../components/class-names.ts';
import { IconButton } from '../../../components/button.tsx';
import { Badge } from '../../../components/badges.tsx';
import { useFieldRef } from '../session/playground-session.tsx';
import { isFileField } from '../../../drafts/file-values.ts';
import { fieldText, type VariableDraft, type VariableField } from '../../../drafts/variable-model.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import { FileField } from './file-field.tsx';
import { SaveRow } from './save-row.tsx';

/** Characters from which a field has two lines. */
const longText = 60;

interface FieldProps {
  field: VariableField;
  text: string;
  isUnfilled: boolean;
  onTextChange: (name: string, text: string) => void;
  onJsonChange: (name: string, isJson: boolean) => void;
}

function placeholderOf({ kind, itemFields }: VariableField): string {
  if (kind === 'list') {
    const item = itemFields.length === 0 ? '"…"' : `{${itemFields.map((name) => `"${name}": …`).join(', ')}}`;
    return `JSON list: [${item}]`;
  }
  if (kind === 'object') return 'JSON object: {…}';
  return kind === 'condition' ? 'Empty counts as false' : 'No value: renders empty';
}

const Field = memo(function Field({ field, text, isUnfilled, onTextChange, onJsonChange }: FieldProps) {
  const { name, kind, isJson, problem } = field;
  const id = useId();
  const fieldRef = useFieldRef();
  const ref = useMemo(() => fieldRef(`variable/${name}`), [fieldRef, name]);
  const note = problem ?? (isUnfilled ? 'No value' : null);
  const isTall = isJson || text.length > longText || text.includes('\n');
  const isChoice = kind === 'text' || kind === 'condition';
  return (
    <div className="variable">
      <label htmlFor={id} className="variable__name mono truncate" title={name}>
        {name}
      </label>
      <div className="variable__value">
        <div
          className={classNames(
            'field field--area',
            isJson && 'mono',
            isUnfilled && 'is-unfilled',
            problem && 'is-invalid',
          )}
        >
          <textarea
            ref={ref}
            id={id}
            rows={isTall ? 2 : 1}
            value={text}
            placeholder={placeholderOf(field)}
            spellCheck={false}
            aria-invalid={problem ? true : undefined}
            aria-describedby={note ? `${id}-note` : undefined}
            onChange={(event) => onTextChange(name, event.target.value)}
          />
          {isUnfilled && !problem && (
            <span id={`${id}-note`}>
              <Badge tone="caution">No value</Badge>
            </span>
          )}
          {isChoice && (
            <IconButton
              icon={Braces}
              label={isJson ? `Send ${name} as text` : `Send ${name} as JSON`}
              size="small"
              className="variable__json"
              aria-pressed={isJson}
              onClick={() => onJsonChange(name, !isJson)}
            />
          )}
        </div>
        {problem && (
          <p id={`${id}-note`} className="caption negative">
            {problem}
          </p>
        )}
      </div>
    </div>
  );
});

export interface VariablesPanelProps {
  draftId: string;
  draftName: string;
  /** The chosen model; null while it is unknown. */
  model: Model | null;
  fields: readonly VariableField[];
  /** The current texts. `fields` may be some letters behind; a field with an older text would lose what was typed. */
  values: VariableDraft['values'];
  unfilled: readonly VariableField[];
  onTextChange: FieldProps['onTextChange'];
  onJsonChange: FieldProps['onJsonChange'];
}

/** A field for each variable of the template, in the order of its text. */
export function VariablesPanel({
  draftId,
  draftName,
  model,
  fields,
  values,
  unfilled,
  onTextChange,
  onJsonChange,
}: VariablesPanelProps) {
  const [isSaving, setSaving] = useState(false);
  if (fields.length === 0) return null;
  const filled = fields.filter(({ isFilled }) => isFilled).length;
  return (
    <section className="panel play__variables" aria-label="Variables">
      <div className="header line-top">
        <h2>Variables</h2>
        <span className="caption tertiary">
          {filled} of {fields.length} filled
        </span>
        <span className="grow" />
        <IconButton
          icon={ListPlus}
          size="small"
          label="Save values as a dataset row"
          aria-disabled={filled === 0 || undefined}
          onClick={() => setSaving(true)}
        />
      </div>
      {isSaving && <SaveRow name={draftName} fields={fields} onClose={() => setSaving(false)} />}
      <div className="scroll variables">
        {fields.map((field) => {
          const text = fieldText(values, field.name);
          const isUnfilled = unfilled.includes(field);
          if (isFileField(field)) {
            const key = `${draftId}/${field.name}`;
            return (
              <FileField key={key} draftId={draftId} field={field} text={text} isUnfilled={isUnfilled} model={model} />
            );
          }
          return (
            <Field
              key={field.name}
              field={field}
              text={text}
              isUnfilled={isUnfilled}
              onTextChange={onTextChange}
              onJsonChange={onJsonChange}
            />
          );
        })}
      </div>
    </section>
  );
}
