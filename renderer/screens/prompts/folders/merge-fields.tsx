import { useId } from 'react';
import type { PromptInput } from '../../../../shared/contract/prompts.ts';
import { Segmented } from '../../../components/choices.tsx';

export interface MergeFieldsProps {
  mine: PromptInput;
  file: PromptInput;
  merged: PromptInput;
  onChange: (merged: PromptInput) => void;
}

const texts = ['promptText', 'systemMessage'] as const;

/** A version out of both: the texts written, everything else from one side. */
export function MergeFields({ mine, file, merged, onChange }: MergeFieldsProps) {
  const id = useId();
  const hasSettingsOfFile = merged.configuration === file.configuration && merged.variables === file.variables;
  const choose = (side: 'mine' | 'file'): void => {
    const { promptText, systemMessage } = merged;
    onChange({ ...(side === 'mine' ? mine : file), promptText, systemMessage });
  };
  return (
    <div className="prompts__form">
      <div className="row">
        <span className="label">Take name, model and settings from</span>
        <Segmented
          label="Take name, model and settings from"
          value={hasSettingsOfFile ? 'file' : 'mine'}
          options={[
            { value: 'mine', label: 'Library version' },
            { value: 'file', label: 'File' },
          ]}
          onValueChange={choose}
        />
      </div>
      {texts.map((name) => (
        <div key={name} className="labelled">
          <label htmlFor={`${id}-${name}`}>{name === 'promptText' ? 'Prompt' : 'System message'}</label>
          <textarea
            id={`${id}-${name}`}
            className="field mono import-pasted"
            rows={name === 'promptText' ? 10 : 4}
            spellCheck={false}
            autoFocus={name === 'promptText'}
            value={merged[name] ?? ''}
            onChange={(event) => onChange({ ...merged, [name]: event.target.value })}
          />
        </div>
      ))}
    </div>
  );
}
