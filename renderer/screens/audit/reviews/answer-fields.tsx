import { Check } from 'lucide-react';
import { useId } from 'react';
import type { AnswerValue, RubricItem } from '../../../../shared/contract/rubrics.ts';
import { classNames } from '../../../components/class-names.ts';
import { Icon } from '../../../components/icon.tsx';
import { KeyCaps } from '../../../components/key-caps.tsx';
import { ScoreScale } from '../../../components/scores.tsx';
import { answerText, maxTextCharacters, optionsOf } from './answers.ts';

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
      <div className="field field--area">
        <textarea
          id={textId ?? ownId}
          aria-label={item.question}
          rows={3}
          maxLength={maxTextCharacters}
          value={typeof value === 'string' ? value : ''}
          onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.preventDefault();
            event.currentTarget.blur();
          }}
        />
      </div>
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
