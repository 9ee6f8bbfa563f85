import { Check } from 'lucide-react';
import { useId } from 'react';
import type { AnswerValue, RubricItem } from '../../../../shared/contract/rubrics.ts';
import { classNames } from '../../../components/class-names.ts';
import { Icon } from '../../../components/icon.tsx';
import { KeyCaps } from '../../../components/key-caps.tsx';
import { ScoreScale } from '../../../components/scores.tsx';
import { answerText, lengthProblem, optionsOf } from './answers.ts';

interface OptionsProps {
  item: RubricItem;
  value: AnswerValue | undefined;
  onChange: (value: AnswerValue | undefined) => void;
  /** Whether the keys choose in this item now. */
  hasKeys: boolean;
  /** Beside each option: who chose it. */
  noteOf?: ((value: AnswerValue) => string) | undefined;
}

/** One button for each answer. A second click takes the answer back. */
function Options({ item, value, onChange, hasKeys, noteOf }: OptionsProps) {
  const options = optionsOf(item);
  return (
    <div className="options" role="group" aria-label={item.question}>
      {options.map((option) => {
        const isOn = option.value === value;
        const note = noteOf?.(option.value) ?? '';
        return (
          <button
            key={option.label}
            type="button"
            className={classNames('option', isOn && 'is-on')}
            aria-pressed={isOn}
            title={option.description ?? undefined}
            onClick={() => onChange(isOn ? undefined : option.value)}
          >
            {hasKeys && option.keys && <KeyCaps keys={option.keys} />}
            <span className="truncate">{option.label}</span>
            {note !== '' && <span className="caption tertiary truncate">{note}</span>}
            {isOn && <Icon icon={Check} size="small" />}
          </button>
        );
      })}
    </div>
  );
}

interface TextAreaProps {
  id?: string;
  label: string;
  placeholder?: string;
  rows: number;
  autoFocus?: boolean;
  value: string;
  onValueChange: (text: string) => void;
  /** Leaves the field unless given. */
  onEscape?: () => void;
}

/** A text of a review. It takes more than can be sent, and says so. */
export function TextArea({ label, value, onValueChange, onEscape, ...area }: TextAreaProps) {
  const ownId = useId();
  const id = area.id ?? ownId;
  const problem = lengthProblem(value);
  return (
    <div>
      <div className={classNames('field field--area', problem !== null && 'is-invalid')}>
        <textarea
          {...area}
          id={id}
          aria-label={label}
          aria-invalid={problem !== null || undefined}
          aria-describedby={problem === null ? undefined : `${id}-note`}
          value={value}
          onChange={(event) => onValueChange(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.preventDefault();
            if (onEscape) onEscape();
            else event.currentTarget.blur();
          }}
        />
      </div>
      {problem !== null && (
        <p id={`${id}-note`} className="caption negative" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

interface AnswerFieldProps extends OptionsProps {
  /** Of the text field, for the key that moves there. */
  textId?: string | undefined;
}

/** The answer to one item of a rubric, in the form that the item has. */
export function AnswerField({ textId, ...props }: AnswerFieldProps) {
  const { item, value, onChange } = props;
  const ownId = useId();
  if (item.kind === 'score')
    return (
      <ScoreScale
        score={typeof value === 'number' ? value : null}
        onScore={(score) => onChange(score === null ? undefined : score)}
      />
    );
  if (item.kind === 'text')
    return (
      <TextArea
        id={textId ?? ownId}
        label={item.question}
        rows={3}
        value={typeof value === 'string' ? value : ''}
        onValueChange={(text) => onChange(text === '' ? undefined : text)}
      />
    );
  return <Options {...props} />;
}

/** Text examples of an item with their right answers. */
export function Examples({ item }: { item: RubricItem }) {
  if (item.examples.length === 0) return null;
  return (
    <details className="rubric__examples small">
      <summary>Examples</summary>
      <ul>
        {item.examples.map(({ text, value }) => (
          <li key={text}>
            {value !== null && <span className="medium">{answerText(value)}: </span>}
            <span className="secondary">{text}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
