import { Maximize2 } from 'lucide-react';
import { useId, useState } from 'react';
import { Link } from 'wouter';
import { categories } from '../../../../shared/contract/moderation.ts';
import { Badge } from '../../../components/badges.tsx';
import { IconButton } from '../../../components/button.tsx';
import { Checkbox, Switch } from '../../../components/choices.tsx';
import { classNames } from '../../../components/class-names.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { Select } from '../../../components/select.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useJudges } from '../../../queries/judges.ts';
import { judgeAddress } from '../../../shell/addresses.ts';
import type { CheckDraft } from '../../../stores/comparison-drafts.ts';
import { type CheckField, checkKinds } from './check-kinds.ts';
import { useProblem, useSetup } from './setup-context.ts';

export interface CheckPartProps {
  check: CheckDraft;
  /** In the request: `checks[0]`. */
  path: string;
  onField: (name: string, text: string) => void;
}

interface FieldProps extends CheckPartProps {
  field: CheckField;
}

/** A text in one line, and on request in a large field. */
function LongField({ field, check, path, onField }: FieldProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const text = check.fields[field.name] ?? '';
  const problem = useProblem(`${path}.${field.name}`);
  const isLong = text.includes('\n');
  return (
    <>
      <TextField
        label={field.label}
        isLabelHidden
        isMono
        size="small"
        placeholder={field.placeholder}
        readOnly={isLong}
        value={isLong ? text.replaceAll(/\s+/g, ' ') : text}
        error={problem}
        onValueChange={(next) => onField(field.name, next)}
        onClick={() => isLong && setOpen(true)}
        end={
          <IconButton
            icon={Maximize2}
            size="small"
            label={`Edit ${field.label.toLowerCase()}`}
            onClick={() => setOpen(true)}
          />
        }
      />
      {isOpen && (
        <Dialog
          title={`${checkKinds[check.kind].label}: ${field.label.toLowerCase()}`}
          isOpen
          isWide
          onClose={() => setOpen(false)}
        >
          <div className={classNames('field field--area setup__long', problem !== null && 'is-invalid')}>
            <textarea
              aria-label={field.label}
              aria-describedby={problem === null ? undefined : id}
              className="mono"
              rows={16}
              spellCheck={false}
              placeholder={field.placeholder}
              value={text}
              onChange={({ target }) => onField(field.name, target.value)}
            />
          </div>
          {problem !== null && (
            <p id={id} className="caption negative" role="alert">
              {problem}
            </p>
          )}
        </Dialog>
      )}
    </>
  );
}

/** A text for every row, or a column with one for each. */
function ExpectedField({ field, check, path, onField }: FieldProps) {
  const { dataset } = useSetup();
  const column = check.fields['column'] ?? '';
  const names = dataset?.columns.map(({ name }) => name) ?? [];
  const isKnown = column === '' || names.includes(column);
  const unknown = dataset && !isKnown ? `The dataset has no column ${column}` : null;
  const valueProblem = useProblem(`${path}.value`);
  const columnProblem = useProblem(`${path}.column`);
  const problem = valueProblem ?? columnProblem ?? unknown;
  return (
    <>
      <Select
        label={`${field.label}: source`}
        size="small"
        value={column === '' ? 'text' : `column ${column}`}
        options={[
          { value: 'text', label: 'Text' },
          ...[...names, ...(isKnown ? [] : [column])].map((name) => ({
            value: `column ${name}`,
            label: name,
            group: 'Columns',
          })),
        ]}
        onValueChange={(value) => onField('column', value === 'text' ? '' : value.slice('column '.length))}
      />
      {column === '' ? (
        <TextField
          label={field.label}
          isLabelHidden
          isMono
          size="small"
          placeholder="Text or {{column}}"
          value={check.fields['value'] ?? ''}
          error={problem}
          onValueChange={(text) => onField('value', text)}
        />
      ) : (
        problem !== null && (
          <p className="caption negative" role="alert">
            {problem}
          </p>
        )
      )}
    </>
  );
}

function JudgeField({ check, path, onField }: FieldProps) {
  // Those of preferences compare two answers, which the results offer.
  const judges = (useJudges().data ?? []).filter(({ verdict }) => verdict.kind !== 'preference');
  const judge = judges.find(({ id }) => id === check.fields['judgeId']);
  const problem = useProblem(`${path}.judgeId`);
  return (
    <>
      <Select
        label="Judge"
        size="small"
        value={judge?.id ?? null}
        placeholder={judges.length === 0 ? 'No judges yet' : 'Choose a judge'}
        options={judges.map(({ id, name }) => ({ value: id, label: name }))}
        onValueChange={(id) => onField('judgeId', id)}
      />
      {judge ? (
        <span className="row setup__calibration">
          <Badge tone={judge.calibration.isCalibrated ? 'positive' : 'caution'}>
            {judge.calibration.isCalibrated ? 'Calibrated' : 'Not calibrated'}
          </Badge>
          <Link className="link small truncate" href={judgeAddress(judge.id)} title={judge.calibration.sentence}>
            {calibrationText(judge.calibration)}
          </Link>
        </span>
      ) : (
        <Link className="link small" href={judgeAddress()}>
          Create a judge
        </Link>
      )}
      {problem !== null && (
        <p className="caption negative" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

function calibrationText({
  heldOut,
  labels,
  labelsNeeded,
}: {
  heldOut: { kappa: number | null } | null;
  labels: number;
  labelsNeeded: number;
}): string {
  if (heldOut?.kappa != null) return `kappa ${heldOut.kappa.toFixed(2)} on ${labels} labels`;
  return `${labels} of ${labelsNeeded} labels`;
}

function CategoriesField({ check, onField }: FieldProps) {
  const chosen = (check.fields['categories'] ?? '').split(' ').filter(Boolean);
  return (
    <fieldset className="setup__categories">
      <legend className="caption tertiary">Categories, all unless chosen</legend>
      {categories.map((category) => (
        <Checkbox
          key={category}
          label={category === 'selfHarm' ? 'self-harm' : category}
          isChecked={chosen.includes(category)}
          onCheckedChange={(isChecked) =>
            onField(
              'categories',
              (isChecked ? [...chosen, category] : chosen.filter((one) => one !== category)).join(' '),
            )
          }
        />
      ))}
    </fieldset>
  );
}

function SimpleField({ field, check, path, onField }: FieldProps) {
  const problem = useProblem(`${path}.${field.name}`);
  return (
    <TextField
      label={field.label}
      isLabelHidden={!field.isOption}
      isMono={field.kind === 'text'}
      size="small"
      inputMode={field.kind === 'text' ? 'text' : 'decimal'}
      placeholder={field.placeholder}
      value={check.fields[field.name] ?? ''}
      error={problem}
      onValueChange={(text) => onField(field.name, text)}
    />
  );
}

function Field(props: FieldProps) {
  const { field, check, onField } = props;
  switch (field.kind) {
    case 'expected':
      return <ExpectedField {...props} />;
    case 'judge':
      return <JudgeField {...props} />;
    case 'categories':
      return <CategoriesField {...props} />;
    case 'json':
    case 'code':
      return <LongField {...props} />;
    case 'choice':
      return (
        <Select
          label={field.label}
          size="small"
          value={check.fields[field.name] ?? field.options?.[0]?.value ?? null}
          options={field.options ?? []}
          onValueChange={(value) => onField(field.name, value)}
        />
      );
    case 'flag':
      return (
        <Switch
          label={field.label}
          isChecked={check.fields[field.name] === 'true'}
          onCheckedChange={(isChecked) => onField(field.name, isChecked ? 'true' : '')}
        />
      );
    default:
      return <SimpleField {...props} />;
  }
}

/** What the check looks for. */
export function CheckFields(props: CheckPartProps) {
  const problem = useProblem(`${props.path}.checks`);
  return (
    <div className="setup__check-fields">
      {checkKinds[props.check.kind].fields
        .filter(({ isOption }) => !isOption)
        .map((field) => (
          <Field key={field.name} field={field} {...props} />
        ))}
      {problem !== null && (
        <p className="caption negative" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** Name, weight, negation, and what few checks need. */
export function CheckOptions({ onNot, ...props }: CheckPartProps & { onNot: (isNot: boolean) => void }) {
  const { check, path, onField } = props;
  const weightProblem = useProblem(`${path}.weight`);
  return (
    <div className="setup__options">
      <TextField
        label="Name"
        size="small"
        maxLength={200}
        placeholder={checkKinds[check.kind].label}
        value={check.fields['name'] ?? ''}
        onValueChange={(text) => onField('name', text)}
      />
      <TextField
        label="Weight"
        size="small"
        inputMode="decimal"
        placeholder="1"
        value={check.fields['weight'] ?? ''}
        error={weightProblem}
        onValueChange={(text) => onField('weight', text)}
      />
      <Switch label="Must not hold" isChecked={check.isNot} onCheckedChange={onNot} />
      {checkKinds[check.kind].fields
        .filter(({ isOption }) => isOption)
        .map((field) => (
          <Field key={field.name} field={field} {...props} />
        ))}
    </div>
  );
}
