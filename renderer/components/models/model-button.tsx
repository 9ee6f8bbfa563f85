import { ChevronsUpDown } from 'lucide-react';
import type { ComponentProps } from 'react';
import { Icon } from '../icon.tsx';
import './models.css';

export interface ModelButtonProps extends Omit<ComponentProps<'button'>, 'children' | 'className'> {
  /** Name of the chosen model. */
  model: string;
  /** Below the name: its provider, or where its runs go. */
  location: string;
  /** Whether its picker is open. */
  isOpen: boolean;
}

/** The selected model as a button that opens the picker. */
export function ModelButton({ model, location, isOpen, ...rest }: ModelButtonProps) {
  return (
    <button
      {...rest}
      type="button"
      className={isOpen ? 'model-button is-open' : 'model-button'}
      aria-haspopup="dialog"
      aria-expanded={isOpen}
    >
      <span className="grow">
        <span className="model-button__name truncate">{model}</span>
        <span className="caption tertiary truncate">{location}</span>
      </span>
      <Icon icon={ChevronsUpDown} size="small" />
    </button>
  );
}
