import { type FormEvent, useId, useState } from 'react';
import type { JudgeProposal } from '../../../../shared/contract/dataset-import.ts';
import type { Judge, JudgeInput, VerdictForm } from '../../../../shared/contract/judges.ts';
import { Button } from '../../../components/button.tsx';
import { readNumber } from '../../../components/format.ts';
import { ModelField } from '../../../components/models/model-field.tsx';
import { Select } from '../../../components/select.tsx';
import { describeError, Notice } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useSaveJudge } from '../../../queries/judges.ts';

type Fields = Omit<JudgeInput, 'verdict'> & { kind: VerdictForm['kind']; min: string; max: string; passFrom: string };

const forms = [
  { value: 'passOrFail', label: 'Pass or fail' },
  { value: 'score', label: 'Score' },
  { value: 'preference', label: 'Preference between two answers' },
] as const;

const examples: Record<VerdictForm['kind'], string> = {
  passOrFail: 'Answer: {{answer}}\n\nIs the answer polite and correct?',
  score: 'Answer: {{answer}}\n\nHow helpful is the answer?',
  preference: 'First answer: {{first}}\n\nSecond answer: {{second}}\n\nWhich answer is better?',
};

function fieldsOf(judge: Judge | null, proposal: JudgeProposal | null = null): Fields {
  const verdict = judge?.verdict ?? proposal?.verdict ?? { kind: 'passOrFail' as const };
  const range = verdict.kind === 'score' ? verdict : { min: 1, max: 5, passFrom: 4 };
  return {
    name: judge?.name ?? proposal?.name ?? '',
    promptText: judge?.promptText ?? proposal?.promptText ?? examples.passOrFail,
    aiSystem: judge?.aiSystem ?? 'ServiceAi',
    model: judge?.model ?? 'hl-gpt-4.1-mini',
    configuration: judge?.configuration ?? null,
    kind: verdict.kind,
    min: String(range.min),
    max: String(range.max),
    passFrom: String(range.passFrom),
  };
}

function inputOf({ kind, min, max, passFrom, ...fields }: Fields): JudgeInput {
  if (kind !== 'score') return { ...fields, verdict: { kind } };
  const number = (text: string) => readNumber(text) ?? Number.NaN;
  return { ...fields, verdict: { kind, min: number(min), max: number(max), passFrom: number(passFrom) } };
}

type Change = (change: Partial<Fields>) => void;

function PromptField({ fields, change }: { fields: Fields; change: Change }) {
  const id = useId();
  return (
    <div className="labelled">
      <label htmlFor={id}>Prompt</label>
      <div className="field field--area">
        <textarea
          id={id}
          className="mono"
          rows={8}
          spellCheck={false}
          aria-describedby={`${id}-note`}
          value={fields.promptText}
          onChange={(event) => change({ promptText: event.target.value })}
        />
      </div>
      <p id={`${id}-note`} className="caption tertiary">
        {fields.kind === 'preference' ? '{{first}} and {{second}} are the answers' : '{{answer}} is the answer'};
        columns of the row fill their own variables.
      </p>
    </div>
  );
}

function VerdictFields({ fields, change }: { fields: Fields; change: Change }) {
  function choose(kind: VerdictForm['kind']) {
    const isExample = Object.values(examples).includes(fields.promptText);
    change({ kind, ...(isExample && { promptText: examples[kind] }) });
  }
  return (
    <>
      <Select label="Verdict" isLabelHidden={false} value={fields.kind} onValueChange={choose} options={forms} />
      {fields.kind === 'score' && (
        <div className="judges__numbers">
          {(
            [
              ['min', 'Lowest'],
              ['max', 'Highest'],
              ['passFrom', 'Passes from'],
            ] as const
          ).map(([name, label]) => (
            <TextField
              key={name}
              label={label}
              inputMode="numeric"
              value={fields[name]}
              onValueChange={(value) => change({ [name]: value })}
              error={Number.isInteger(readNumber(fields[name])) ? null : 'Enter a whole number'}
            />
          ))}
        </div>
      )}
    </>
  );
}

/** What the service adds to the prompt. */
function SentParts({ judge }: { judge: Judge }) {
  return (
    <details>
      <summary>System message and JSON schema of the verdict</summary>
      <p className="caption tertiary">System message</p>
      <p className="judges__sent mono">{judge.systemMessage}</p>
      <p className="caption tertiary">JSON schema</p>
      <pre className="judges__sent mono">{JSON.stringify(judge.answerSchema, null, 2)}</pre>
    </details>
  );
}

interface JudgeFormProps {
  /** Null is a new one. */
  judge: Judge | null;
  /** What a new one starts with. */
  proposal?: JudgeProposal;
  onSaved: (judge: Judge) => void;
}

export function JudgeForm({ judge, proposal, onSaved }: JudgeFormProps) {
  const [fields, setFields] = useState(() => fieldsOf(judge, proposal));
  const saving = useSaveJudge(judge?.id ?? null);
  const change: Change = (changed) => setFields((before) => ({ ...before, ...changed }));
  const isChanged = JSON.stringify(fields) !== JSON.stringify(fieldsOf(judge));
  const makesStale = judge !== null && isChanged && fields.name === judge.name && judge.calibration.labels > 0;
  function save(event: FormEvent) {
    event.preventDefault();
    if (!saving.isPending) saving.mutate(inputOf(fields), { onSuccess: onSaved });
  }
  return (
    <form className="judges__form" aria-label={judge ? 'Judge' : 'New judge'} onSubmit={save}>
      <TextField label="Name" value={fields.name} maxLength={200} onValueChange={(name) => change({ name })} />
      <PromptField fields={fields} change={change} />
      <ModelField value={fields} onChange={change} />
      <VerdictFields fields={fields} change={change} />
      {judge && <SentParts judge={judge} />}
      <p className="caption tertiary">
        Models prefer answers of their own family. Choose a judge of another family than the variants.
      </p>
      {makesStale && <Notice tone="caution">Saving makes all verdicts stale. The labels stay.</Notice>}
      {saving.error && <Notice tone="negative">{describeError(saving.error).message}</Notice>}
      <div className="row">
        <Button
          type="submit"
          variant="primary"
          isBusy={saving.isPending}
          aria-disabled={fields.name.trim() === '' || (judge !== null && !isChanged)}
        >
          {judge ? 'Save' : 'Create judge'}
        </Button>
      </div>
    </form>
  );
}
