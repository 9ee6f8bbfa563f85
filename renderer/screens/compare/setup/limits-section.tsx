import { Select } from '../../../components/select.tsx';
import { TextField } from '../../../components/text-field.tsx';
import type { SetupDraft } from '../../../stores/comparison-drafts.ts';
import { useProblem, useSetup } from './setup-context.ts';

type NumberField = 'repeats' | 'concurrency' | 'maxCost' | 'attempts' | 'timeLimitSeconds' | 'seed';

function NumberRow({
  name,
  label,
  placeholder,
  hint,
}: {
  name: NumberField;
  label: string;
  placeholder?: string;
  hint?: string;
}) {
  const { draft, change } = useSetup();
  const problem = useProblem(name);
  return (
    <TextField
      label={label}
      size="small"
      inputMode="decimal"
      placeholder={placeholder}
      value={draft[name]}
      error={problem}
      hint={hint}
      onValueChange={(text) => change({ [name]: text } as Pick<SetupDraft, NumberField>)}
    />
  );
}

/** How often, how fast and for how much it runs. */
export function LimitsSection() {
  const { draft, change } = useSetup();
  return (
    <section className="line-top setup__limits" aria-label="Repeats and limits">
      <div>
        <div className="header">
          <h2>Repeats</h2>
        </div>
        <div className="setup__fields">
          <NumberRow name="repeats" label="Runs per row" />
          <Select
            label="Row order"
            isLabelHidden={false}
            size="small"
            value={draft.isRandomOrder ? 'random' : 'rows'}
            options={[
              { value: 'rows', label: 'As in the dataset' },
              { value: 'random', label: 'Random' },
            ]}
            onValueChange={(order) => change({ isRandomOrder: order === 'random' })}
          />
          {draft.isRandomOrder && (
            <NumberRow name="seed" label="Seed" placeholder="1" hint="The same seed repeats the order" />
          )}
        </div>
      </div>
      <div className="line-left">
        <div className="header">
          <h2>Limits</h2>
        </div>
        <div className="setup__fields">
          <NumberRow name="concurrency" label="Runs at a time per provider" />
          <NumberRow name="maxCost" label="Spend cap" placeholder="None" />
        </div>
      </div>
      <div className="line-left">
        <div className="header">
          <h2>Errors</h2>
        </div>
        <div className="setup__fields">
          <NumberRow name="attempts" label="Attempts" />
          <NumberRow name="timeLimitSeconds" label="Time limit of a run in seconds" />
        </div>
      </div>
    </section>
  );
}
