import { ChevronDown, ChevronRight, Plus, X } from 'lucide-react';
import { useState } from 'react';
import {
  type ExportColumn,
  exportColumns,
  type ExportFormat,
  type RedactionPreview,
} from '../../../../shared/contract/audit-exports.ts';
import { Checkbox, Segmented } from '../../../components/choices.tsx';
import { Icon } from '../../../components/icon.tsx';
import { columnGroups, columnName, columnPresets, draftRules, ruleName, standardRules } from './pack-draft.ts';
import { AppError } from '../../../../shared/app-error.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { formatPlural } from '../../../components/format.ts';
import { ErrorFailure } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import type { OwnPattern, PackDraft } from '../../../stores/audit.ts';

const presets = [
  { value: 'essential', label: 'Essential' },
  { value: 'everything', label: 'Everything' },
  { value: 'own', label: 'Custom' },
] as const;

function presetOf(columns: readonly ExportColumn[]): 'essential' | 'everything' | 'own' {
  const isSame = (preset: readonly ExportColumn[]) =>
    preset.length === columns.length && preset.every((column) => columns.includes(column));
  if (isSame(columnPresets.everything)) return 'everything';
  return isSame(columnPresets.essential) ? 'essential' : 'own';
}

/** The columns of the files: one of two presets, or a custom choice. */
export function ColumnsField({
  columns,
  onChange,
}: {
  columns: readonly ExportColumn[];
  onChange: (columns: readonly ExportColumn[]) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const toggle = (column: ExportColumn, isOn: boolean) =>
    onChange(
      isOn
        ? exportColumns.filter((one) => one === column || columns.includes(one))
        : columns.filter((one) => one !== column),
    );
  return (
    <>
      <div className="row">
        <Segmented
          label="Columns"
          value={presetOf(columns)}
          onValueChange={(preset) => (preset === 'own' ? setOpen(true) : onChange(columnPresets[preset]))}
          options={presets}
        />
        <button type="button" className="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon icon={isOpen ? ChevronDown : ChevronRight} size="small" />
          {columns.length} of {exportColumns.length} columns
        </button>
      </div>
      {isOpen && (
        <div className="pack__columns">
          {columnGroups.map(({ title, columns: members }) => (
            <fieldset key={title}>
              <legend className="caption tertiary">{title}</legend>
              {members.map((column) => (
                <Checkbox
                  key={column}
                  label={columnName(column)}
                  isChecked={columns.includes(column)}
                  onCheckedChange={(isOn) => toggle(column, isOn)}
                />
              ))}
            </fieldset>
          ))}
        </div>
      )}
    </>
  );
}

interface RulesFieldProps {
  draft: PackDraft;
  onChange: (change: Partial<PackDraft>) => void;
  preview: RedactionPreview | undefined;
  isPreviewBehind: boolean;
  error: Error | null;
}

/** The host's message about the custom pattern at this index. */
function patternIssue(error: Error | null, draft: PackDraft, index: number): string | undefined {
  if (!(error instanceof AppError)) return undefined;
  const ruleIndex = draft.kinds.length + draft.patterns.slice(0, index).filter(({ pattern }) => pattern !== '').length;
  return error.details.find(({ field }) => field.startsWith(`rules[${ruleIndex}]`))?.issue;
}

function Patterns({ draft, onChange, error }: Pick<RulesFieldProps, 'draft' | 'onChange' | 'error'>) {
  const { patterns } = draft;
  const set = (index: number, change: Partial<OwnPattern>) =>
    onChange({ patterns: patterns.map((pattern, at) => (at === index ? { ...pattern, ...change } : pattern)) });
  return (
    <>
      {patterns.map((pattern, index) => (
        <div key={index} className="pack__pattern">
          <TextField
            label="Name"
            size="small"
            autoFocus={pattern.pattern === '' && pattern.name === ''}
            value={pattern.name}
            onValueChange={(name) => set(index, { name })}
          />
          <TextField
            label="Regular expression"
            size="small"
            isMono
            value={pattern.pattern}
            onValueChange={(text) => set(index, { pattern: text })}
            error={pattern.pattern === '' ? undefined : patternIssue(error, draft, index)}
          />
          <IconButton
            icon={X}
            label={`Remove pattern ${pattern.name}`}
            size="small"
            onClick={() => onChange({ patterns: patterns.toSpliced(index, 1) })}
          />
        </div>
      ))}
      <div>
        <Button
          size="small"
          variant="quiet"
          icon={Plus}
          onClick={() => onChange({ patterns: [...patterns, { name: '', pattern: '' }] })}
        >
          Custom pattern
        </Button>
      </div>
    </>
  );
}

/** Characters of context on either side of a redaction. */
const shownBeside = 24;

function Preview({ draft, preview }: { draft: PackDraft; preview: RedactionPreview }) {
  const rules = draftRules(draft);
  return (
    <table className="table figures pack__preview">
      <caption>
        Matches in the first {formatPlural(preview.examinedRuns, 'run')} of {formatPlural(preview.runs, 'run')} in{' '}
        {formatPlural(preview.conversations, 'conversation')}
      </caption>
      <tbody>
        {rules.map((rule, index) => {
          const matches = preview.rules[index];
          const sample = matches?.samples[0];
          return (
            <tr key={`${rule.kind} ${ruleName(rule)}`}>
              <th scope="row">{ruleName(rule)}</th>
              <td className="right numbers">{matches?.count ?? 0}</td>
              <td className="pack__sample">
                {sample && (
                  <>
                    <span className="tertiary">{columnName(sample.column)}: </span>…{sample.before.slice(-shownBeside)}
                    <del>{sample.found}</del> <ins>{sample.replacement}</ins>
                    {sample.after.slice(0, shownBeside)}…
                  </>
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** The redactions in every text of the pack, with a preview for the first runs. */
export function RulesField({ draft, onChange, preview, isPreviewBehind, error }: RulesFieldProps) {
  const toggle = (kind: PackDraft['kinds'][number], isOn: boolean) =>
    onChange({ kinds: isOn ? [...draft.kinds, kind] : draft.kinds.filter((one) => one !== kind) });
  const isOwnIssue = draft.patterns.some((_pattern, index) => patternIssue(error, draft, index) !== undefined);
  const hasRules = draftRules(draft).length > 0;
  return (
    <div className="pack__rules">
      <div className="pack__choices">
        {standardRules.map(({ kind, name }) => (
          <Checkbox
            key={kind}
            label={name}
            isChecked={draft.kinds.includes(kind)}
            onCheckedChange={(isOn) => toggle(kind, isOn)}
          />
        ))}
      </div>
      <Patterns draft={draft} onChange={onChange} error={error} />
      {error && !isOwnIssue && <ErrorFailure title="Couldn't preview the redaction" error={error} />}
      {hasRules && preview && !error && (
        <div className={isPreviewBehind ? 'is-behind' : undefined} aria-busy={isPreviewBehind}>
          <Preview draft={draft} preview={preview} />
        </div>
      )}
      {!hasRules && <p className="small caution">Nothing is redacted. The pack contains all texts unchanged.</p>}
    </div>
  );
}

const formats: readonly { value: ExportFormat; label: string }[] = [
  { value: 'html', label: 'HTML (to read)' },
  { value: 'jsonl', label: 'JSONL (for programs)' },
  { value: 'csv', label: 'CSV (for spreadsheets)' },
];

const forms = [
  { value: 'zip', label: 'Zip file' },
  { value: 'folder', label: 'Folder' },
] as const;

/** The formats of the files, and whether they are zipped. */
export function FormatsField({ draft, onChange }: Pick<RulesFieldProps, 'draft' | 'onChange'>) {
  const toggle = (format: ExportFormat, isOn: boolean) =>
    onChange({ formats: isOn ? [...draft.formats, format] : draft.formats.filter((one) => one !== format) });
  return (
    <>
      <div className="pack__choices">
        {formats.map(({ value, label }) => (
          <Checkbox
            key={value}
            label={label}
            isChecked={draft.formats.includes(value)}
            onCheckedChange={(isOn) => toggle(value, isOn)}
          />
        ))}
      </div>
      <Segmented label="Package as" value={draft.form} onValueChange={(form) => onChange({ form })} options={forms} />
    </>
  );
}
