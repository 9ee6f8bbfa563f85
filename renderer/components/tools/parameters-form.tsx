import { Ellipsis, Plus, X } from 'lucide-react';
import {
  type CSSProperties,
  type KeyboardEvent,
  memo,
  useCallback,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Button, IconButton } from '../button.tsx';
import { Checkbox } from '../choices.tsx';
import { formatPlural } from '../format.ts';
import { Menu, type MenuItem } from '../menu.tsx';
import { Select } from '../select.tsx';
import { TextField } from '../text-field.tsx';
import type { JsonSchema } from '../../../shared/json-schema.ts';
import {
  addProperty,
  changeProperty,
  changeValues,
  type ParameterRow,
  type ParameterType,
  parameterTypes,
  readRows,
  removeProperty,
  renameProperty,
  setClosed,
  setDescription,
  setRequired,
  setType,
} from './schema-form.ts';

type ChangeSchema = (change: (schema: JsonSchema) => JsonSchema) => void;

/** A name is taken when the field loses the focus: while it is typed, it may be that of another parameter. */
function NameField({ name, onRename }: { name: string; onRename: (name: string) => boolean }) {
  const [typed, setTyped] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const take = (): void => {
    if (typed === null || typed === name) return setTyped(null);
    if (typed === '') return setError('Enter a name');
    if (!onRename(typed)) return setError('Another parameter has this name');
    setTyped(null);
    setError(null);
  };
  return (
    <TextField
      label="Name"
      isLabelHidden
      isMono
      size="small"
      value={typed ?? name}
      error={error}
      onValueChange={(text) => {
        setTyped(text);
        setError(null);
      }}
      onBlur={take}
      onKeyDown={(event: KeyboardEvent) => event.key === 'Enter' && take()}
    />
  );
}

function EnumValues({ row, onChange }: { row: ParameterRow; onChange: (property: JsonSchema) => void }) {
  const [typed, setTyped] = useState('');
  const add = (): void => {
    if (typed === '') return;
    onChange(changeValues(row.schema, { add: typed }));
    setTyped('');
  };
  return (
    <div className="param-row__values">
      {row.values.slice(0, 100).map((value) => (
        <span key={value} className="param-row__value mono--small">
          <span className="truncate">{value}</span>
          <button
            type="button"
            aria-label={`Remove ${value}`}
            onClick={() => onChange(changeValues(row.schema, { remove: value }))}
          >
            <X size={12} aria-hidden="true" />
          </button>
        </span>
      ))}
      <TextField
        label={`Add a value of ${row.name}`}
        isLabelHidden
        isMono
        size="small"
        placeholder="Add value"
        value={typed}
        onValueChange={setTyped}
        onBlur={add}
        onKeyDown={(event: KeyboardEvent) => event.key === 'Enter' && add()}
      />
    </div>
  );
}

const typeOptions = parameterTypes.map((value) => ({ value, label: value, isDisabled: value === 'other' }));

function rowMenu({ path, type }: ParameterRow, onChange: ChangeSchema): MenuItem[][] {
  const isObject = type === 'object' || type === 'object list';
  const addInside = {
    label: 'Add parameter inside',
    onSelect: () => onChange((schema) => addProperty(schema, path)),
  };
  const remove = {
    label: 'Remove parameter',
    isNegative: true,
    onSelect: () => onChange((schema) => removeProperty(schema, path)),
  };
  return isObject ? [[addInside], [remove]] : [[remove]];
}

interface RowProps {
  row: ParameterRow;
  /** The same function for every schema. */
  onChange: ChangeSchema;
}

/** Every edit makes new rows, and most of them show the same as before. */
function showsTheSame(before: RowProps, after: RowProps): boolean {
  return before.onChange === after.onChange && JSON.stringify(before.row) === JSON.stringify(after.row);
}

const Row = memo(function Row({ row, onChange }: RowProps) {
  const { path, name, type, isRequired, description, rules } = row;
  const changeRow = (change: (property: JsonSchema) => JsonSchema): void =>
    onChange((schema) => changeProperty(schema, path, change));
  const rename = (next: string): boolean => {
    let isTaken = false;
    onChange((schema) => {
      const renamed = renameProperty(schema, path, next);
      isTaken = JSON.stringify(renamed) !== JSON.stringify(schema);
      return renamed;
    });
    return isTaken;
  };
  return (
    <li className="param-row" style={{ '--depth': path.length - 1 } as CSSProperties} aria-label={path.join('.')}>
      <NameField name={name} onRename={rename} />
      <Select
        label={`Type of ${name}`}
        size="small"
        value={type}
        options={typeOptions}
        onValueChange={(next: ParameterType) => changeRow((property) => setType(property, next))}
      />
      <Checkbox
        label={`${name} is required`}
        isLabelHidden
        isChecked={isRequired}
        onCheckedChange={(required) => onChange((schema) => setRequired(schema, path, required))}
      />
      <TextField
        label={`Description of ${name}`}
        isLabelHidden
        size="small"
        placeholder="Description"
        value={description}
        onValueChange={(text) => changeRow((property) => setDescription(property, text))}
      />
      <Menu groups={rowMenu(row, onChange)} align="end">
        <IconButton icon={Ellipsis} label={`More actions for ${name}`} size="small" />
      </Menu>
      {(type === 'enum' || type === 'enum list') && (
        <EnumValues row={row} onChange={(property) => changeRow(() => property)} />
      )}
      {rules !== '' && <p className="param-row__rules caption tertiary mono--small">{rules}</p>}
    </li>
  );
}, showsTheSame);

export interface ParametersFormProps {
  schema: JsonSchema;
  onChange: (schema: JsonSchema) => void;
}

/** The properties of a schema as rows. What it has no field for stays as it is in the source. */
export function ParametersForm({ schema, onChange }: ParametersFormProps) {
  const { rows, isComplete } = useMemo(() => readRows(schema), [schema]);
  const newest = useRef({ schema, onChange });
  useLayoutEffect(() => {
    newest.current = { schema, onChange };
  });
  const change = useCallback<ChangeSchema>((next) => {
    const { schema: old, onChange: report } = newest.current;
    const changed = next(old);
    if (changed !== old) report(changed);
  }, []);
  const required = rows.filter(({ isRequired }) => isRequired).length;
  return (
    <div className="tool-pane" role="group" aria-label="Form">
      <div className="header">
        <h2>Parameters</h2>
        <span className="caption tertiary">
          {rows.length === 0 ? 'None' : `${formatPlural(rows.length, 'parameter')}, ${required} required`}
        </span>
        <span className="grow" />
        <Button size="small" variant="quiet" icon={Plus} onClick={() => change((old) => addProperty(old))}>
          Add
        </Button>
      </div>
      {rows.length > 0 && (
        <>
          <div className="param-row param-row--head" aria-hidden="true">
            <span>Name</span>
            <span>Type</span>
            <span>Req.</span>
            <span>Description</span>
          </div>
          <ul aria-label="Parameters">
            {rows.map((row, index) => (
              // A renamed parameter keeps its row, and with it the focus.
              // oxlint-disable-next-line react/no-array-index-key -- Rows change in place.
              <Row key={`${row.path.length}-${index}`} row={row} onChange={change} />
            ))}
          </ul>
        </>
      )}
      {!isComplete && <p className="caption tertiary tool-pane__note">Edit further parameters in the JSON schema.</p>}
      <div className="tool-pane__note">
        <Checkbox
          label="No other parameters"
          isChecked={schema['additionalProperties'] === false}
          onCheckedChange={(isClosed) => change((old) => setClosed(old, isClosed))}
        />
      </div>
    </div>
  );
}
