import type { PromptVariable } from '../../shared/contract/prompts.ts';
import './variable-fields.css';

type VariableText = Exclude<keyof PromptVariable, 'name'>;

/** The rows with one text changed; an empty text becomes null. */
function withText(
  variables: readonly PromptVariable[],
  name: string,
  field: VariableText,
  text: string,
): PromptVariable[] {
  return variables.map((variable) =>
    variable.name === name ? { ...variable, [field]: text === '' ? null : text } : variable,
  );
}

const columns = [
  { field: 'description', title: 'Description' },
  { field: 'defaultValue', title: 'Default' },
  { field: 'sampleValue', title: 'Sample' },
] as const satisfies { field: VariableText; title: string }[];

export interface VariableFieldsProps {
  variables: readonly PromptVariable[];
  onChange: (variables: PromptVariable[]) => void;
}

/** The details of each variable: its description, the default for runs that leave it out, and an example. */
export function VariableFields({ variables, onChange }: VariableFieldsProps) {
  return (
    <table className="variable-fields" aria-label="Variables">
      <thead>
        <tr>
          <th>Variable</th>
          {columns.map(({ title }) => (
            <th key={title}>{title}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {variables.map((variable) => (
          <tr key={variable.name}>
            <th scope="row" className="mono--small">
              {variable.name}
            </th>
            {columns.map(({ field, title }) => (
              <td key={field}>
                <div className="field field--area">
                  <textarea
                    rows={1}
                    spellCheck={false}
                    aria-label={`${title} of ${variable.name}`}
                    placeholder="None"
                    value={variable[field] ?? ''}
                    onChange={(event) => onChange(withText(variables, variable.name, field, event.target.value))}
                  />
                </div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
