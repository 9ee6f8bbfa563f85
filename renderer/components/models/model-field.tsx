import { useId, useState } from 'react';
import type { AiSystem } from '../../../shared/contract/common.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { ModelButton } from './model-button.tsx';
import { modelKey } from './model-list.ts';
import { ModelPicker } from './model-picker.tsx';

interface Model {
  readonly aiSystem: AiSystem;
  readonly model: string;
}

/** The labelled field of a form that opens the model picker. */
export function ModelField({ value, onChange }: { value: Model; onChange: (model: Model) => void }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const choose = ({ aiSystem, name }: { aiSystem: AiSystem; name: string }): void => {
    onChange({ aiSystem, model: name });
    setOpen(false);
  };
  return (
    <div className="labelled">
      <span id={`${id}-label`} className="label">
        Model
      </span>
      <ModelButton
        id={id}
        aria-labelledby={`${id}-label ${id}`}
        model={value.model}
        location={providerName(value.aiSystem)}
        isOpen={isOpen}
        onClick={() => setOpen(true)}
      />
      <ModelPicker
        isOpen={isOpen}
        chosenKey={modelKey({ aiSystem: value.aiSystem, name: value.model })}
        onChoose={choose}
        onChooseAndRun={choose}
        onClose={() => setOpen(false)}
      />
    </div>
  );
}
