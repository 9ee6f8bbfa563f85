import { Maximize2 } from 'lucide-react';
import { lazy, type ReactNode, type RefCallback, Suspense, useId, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { Select, type SelectOption } from './select.tsx';
import { type NamedParameter, namedParameters } from '../../shared/contract/completions.ts';
import type { Model } from '../../shared/contract/providers.ts';
import type { Draft } from '../stores/playground-drafts.ts';
import { parameterFields, readOtherParameters, readParameter, unsupportedReason } from '../drafts/parameter-model.ts';
import './parameters-panel.css';

/** The editor is large, and few prompts have a schema. */
export const SchemaDialog = lazy(async () => ({ default: (await import('./editor/schema-dialog.tsx')).SchemaDialog }));

/** The texts of the fields, as a draft and an agent's form store them. */
export type ParameterTexts = Pick<Draft, 'parameters' | 'otherParameters'>;

interface ParameterProps {
  name: NamedParameter;
  text: string;
  model: Model | null;
  /** False if the next parameter shows the same reason. */
  isReasonShown: boolean;
  onTextChange: (text: string) => void;
  /** Receives the field, so that a problem can focus it. */
  fieldRef?: RefCallback<HTMLElement> | undefined;
  /** Opens the schema in a large editor. Without it, the field has its own editor, which closes with the panel. */
  onSchemaOpen?: (() => void) | undefined;
}

function Frame({
  name,
  note,
  isOff,
  isBad,
  noteId,
  children,
}: {
  name: string;
  note: string | null;
  isOff: boolean;
  isBad: boolean;
  noteId: string;
  children: React.ReactNode;
}) {
  return (
    <div className={classNames('param', isOff && 'is-off')}>
      <span className="param__name mono--small" aria-hidden="true">
        {name}
      </span>
      {children}
      {note && (
        <p id={noteId} className={classNames('param__reason', isBad && 'negative')}>
          {note}
        </p>
      )}
    </div>
  );
}

const notSent = 'default';

function valuesOf(name: NamedParameter, model: Model | null): readonly string[] | null {
  const values = model?.parameters.find((parameter) => parameter.name === name)?.values ?? null;
  if (name === 'response_format') return values ?? ['text', 'json_object', 'json_schema'];
  return values;
}

function ChoiceParameter({
  name,
  text,
  values,
  onTextChange,
}: Pick<ParameterProps, 'name' | 'text' | 'onTextChange'> & { values: readonly string[] }) {
  const isSchema = name === 'response_format' && text.trimStart().startsWith('{');
  const chosen = isSchema ? 'json_schema' : text || notSent;
  const known = values.includes(chosen) || chosen === notSent ? values : [...values, chosen];
  const options: SelectOption<string>[] = [notSent, ...known].map((value) => ({
    value,
    label: value === notSent ? 'Default' : value,
  }));
  const schema =
    '{\n  "type": "object",\n  "properties": {\n    "answer": { "type": "string" }\n  },\n  "required": ["answer"],\n  "additionalProperties": false\n}';
  const choose = (value: string): void =>
    onTextChange(value === notSent ? '' : value === 'json_schema' ? schema : value);
  return <Select label={name} size="small" value={chosen} options={options} onValueChange={choose} />;
}

function SchemaField({
  text,
  isInvalid,
  fieldRef,
  onTextChange,
  onSchemaOpen,
}: Pick<ParameterProps, 'text' | 'fieldRef' | 'onTextChange' | 'onSchemaOpen'> & { isInvalid: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className={classNames('field field--area mono--small param__wide', isInvalid && 'is-invalid')}>
      <textarea
        ref={fieldRef}
        rows={4}
        value={text}
        spellCheck={false}
        aria-label="JSON schema"
        onChange={(event) => onTextChange(event.target.value)}
      />
      <IconButton
        icon={Maximize2}
        label="Edit JSON schema in a large editor"
        size="small"
        onClick={onSchemaOpen ?? (() => setOpen(true))}
      />
      {isOpen && (
        <Suspense fallback={null}>
          <SchemaDialog text={text} onTextChange={onTextChange} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}

function Parameter({ name, text, model, isReasonShown, fieldRef, onTextChange, onSchemaOpen }: ParameterProps) {
  const noteId = useId();
  const rejection = unsupportedReason(name, model);
  const { placeholder, meaning } = parameterFields[name];
  const read = rejection ? null : readParameter(name, text);
  const problem = read && 'problem' in read ? read.problem : null;
  const values = valuesOf(name, model);
  const isSchema = name === 'response_format' && text.trimStart().startsWith('{') && !rejection;
  return (
    <Frame
      name={name}
      note={isReasonShown ? (rejection ?? problem) : problem}
      isOff={rejection !== null}
      isBad={problem !== null}
      noteId={noteId}
    >
      {values && !rejection ? (
        <ChoiceParameter name={name} text={text} values={values} onTextChange={onTextChange} />
      ) : (
        <div
          className={classNames(
            'field field--small',
            name === 'stop' && 'mono--small',
            rejection && 'is-disabled',
            problem && 'is-invalid',
          )}
        >
          <input
            ref={fieldRef}
            aria-label={name}
            title={rejection ?? meaning}
            value={text}
            placeholder={rejection ? 'Not sent' : placeholder}
            disabled={rejection !== null}
            spellCheck={false}
            autoComplete="off"
            inputMode={name === 'stop' ? 'text' : 'decimal'}
            aria-invalid={problem ? true : undefined}
            aria-describedby={(rejection && isReasonShown) || problem ? noteId : undefined}
            onChange={(event) => onTextChange(event.target.value)}
          />
        </div>
      )}
      {isSchema && (
        <SchemaField
          text={text}
          isInvalid={problem !== null}
          fieldRef={fieldRef}
          onTextChange={onTextChange}
          onSchemaOpen={onSchemaOpen}
        />
      )}
    </Frame>
  );
}

function OtherParameters({ text, fieldRef, onTextChange }: Pick<ParameterProps, 'text' | 'fieldRef' | 'onTextChange'>) {
  const noteId = useId();
  const read = readOtherParameters(text);
  const problem = read && 'problem' in read ? read.problem : null;
  return (
    <div className="param">
      <span className="param__wide small secondary" aria-hidden="true">
        Extra parameters (JSON)
      </span>
      <div className={classNames('field field--area mono--small param__wide', problem && 'is-invalid')}>
        <textarea
          ref={fieldRef}
          rows={1}
          value={text}
          placeholder='{"name": value}'
          spellCheck={false}
          aria-label="Extra parameters (JSON)"
          aria-invalid={problem ? true : undefined}
          aria-describedby={noteId}
          onChange={(event) => onTextChange(event.target.value)}
        />
      </div>
      <p id={noteId} className={classNames('param__reason', problem && 'negative')}>
        {problem ?? 'Passed through unchanged'}
      </p>
    </div>
  );
}

/** The parameters in the order of the panel: the model's own first, then the unsupported ones. */
function panelParameters(model: Model | null): Pick<ParameterProps, 'name' | 'isReasonShown'>[] {
  const supported = namedParameters.filter((name) => unsupportedReason(name, model) === null);
  const rejections = namedParameters.flatMap((name) => {
    const reason = unsupportedReason(name, model);
    return reason === null ? [] : [{ name, reason }];
  });
  // Parameters that are rejected for the same reason form one group with one reason.
  const rejected = [...Map.groupBy(rejections, ({ reason }) => reason).values()].flat();
  const lastOfReason = new Map(rejected.map(({ name, reason }) => [reason, name]));
  return [
    ...supported.map((name) => ({ name, isReasonShown: true })),
    ...rejected.map(({ name, reason }) => ({ name, isReasonShown: lastOfReason.get(reason) === name })),
  ];
}

/** The parameters of a run. Parameters that the model doesn't support are greyed out and come last, with the reason below. */
export function ParametersPanel({
  draft,
  model,
  onChange,
  fieldRef,
  onSchemaOpen,
  children,
}: {
  draft: ParameterTexts;
  model: Model | null;
  onChange: (change: Partial<ParameterTexts>) => void;
  /** Returns the ref of a field by the name that `readConfiguration` uses for its problem. */
  fieldRef?: (name: string) => RefCallback<HTMLElement>;
  /** Opens the schema of the answer in a large editor that stays open without the panel. */
  onSchemaOpen?: () => void;
  /** More fields, above the others. */
  children?: ReactNode;
}) {
  const isTouched = draft.otherParameters !== '' || Object.values(draft.parameters).some((text) => text !== '');
  return (
    <section aria-label="Parameters">
      <div className="header line-top">
        <h2>Parameters</h2>
        <span className="grow" />
        {isTouched && (
          <Button size="small" variant="quiet" onClick={() => onChange({ parameters: {}, otherParameters: '' })}>
            Reset
          </Button>
        )}
      </div>
      {children}
      <div className="params">
        {panelParameters(model).map(({ name, isReasonShown }) => (
          <Parameter
            key={name}
            name={name}
            text={draft.parameters[name] ?? ''}
            model={model}
            isReasonShown={isReasonShown}
            fieldRef={fieldRef?.(name)}
            onTextChange={(text) => onChange({ parameters: { ...draft.parameters, [name]: text } })}
            onSchemaOpen={onSchemaOpen}
          />
        ))}
        <OtherParameters
          text={draft.otherParameters}
          fieldRef={fieldRef?.('Extra parameters')}
          onTextChange={(otherParameters) => onChange({ otherParameters })}
        />
      </div>
    </section>
  );
}
