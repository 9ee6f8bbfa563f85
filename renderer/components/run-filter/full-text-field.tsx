import { ChevronDown, Search } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import type { AuditFilter } from '../../../shared/contract/audit.ts';
import { Icon } from '../icon.tsx';
import { Menu } from '../menu.tsx';
import { TextField } from '../text-field.tsx';

/** How long to wait after the last letter before searching, in milliseconds. */
const pauseMilliseconds = 220;

const searchScopes = [
  { value: null, label: 'in prompts and answers' },
  { value: 'prompt', label: 'in prompts' },
  { value: 'answer', label: 'in answers' },
] as const;

export interface FullTextFieldProps {
  /** Of the input. */
  id: string;
  label: string;
  placeholder: string;
  /** Whether a person can choose where to search. */
  hasScope: boolean;
  filter: AuditFilter;
  /** `isTyped` while the person types: one step of Back then removes the whole word. */
  onChange: (filter: AuditFilter, isTyped: boolean) => void;
  /** Enter or arrow down: moves the focus to the matches. */
  onLeave: () => void;
}

function withText(filter: AuditFilter, text: string): AuditFilter {
  const { text: _before, textIn, ...rest } = filter;
  return text.trim() === '' ? rest : { ...rest, ...(textIn && { textIn }), text };
}

/** Where to search: in prompts, in answers, or in both. */
function ScopeMenu({ filter, onChange }: Pick<FullTextFieldProps, 'filter' | 'onChange'>) {
  const scope = searchScopes.find(({ value }) => value === (filter.textIn ?? null)) ?? searchScopes[0];
  const choose = (value: (typeof searchScopes)[number]['value']) => {
    const { textIn: _before, ...rest } = filter;
    onChange(value === null ? rest : { ...rest, textIn: value }, false);
  };
  return (
    <Menu
      align="end"
      groups={[
        searchScopes.map(({ value, label }) => ({
          label,
          isChecked: value === scope.value,
          onSelect: () => choose(value),
        })),
      ]}
    >
      <button type="button" className="audit__place caption tertiary nowrap">
        {scope.label}
        <Icon icon={ChevronDown} size="tiny" />
      </button>
    </Menu>
  );
}

/** Full-text search over prompts and answers. The field keeps the focus and every letter while the list updates. */
export function FullTextField(props: FullTextFieldProps) {
  const { id, label, placeholder, hasScope, filter, onChange, onLeave } = props;
  const filtered = filter.text ?? '';
  const [typed, setTyped] = useState(filtered);
  const [searched, setSearched] = useState(filtered);
  const [lastFiltered, setLastFiltered] = useState(filtered);
  if (lastFiltered !== filtered) {
    setLastFiltered(filtered);
    setSearched(filtered);
    // A saved view, a chip or Back changed the filter. A search result from this field must not overwrite later letters.
    if (filtered !== searched) setTyped(filtered);
  }

  const search = (text: string) => {
    const next = withText(filter, text);
    if ((next.text ?? '') === searched) return;
    setSearched(next.text ?? '');
    onChange(next, searched !== '' && next.text !== undefined);
  };
  const searchAfterPause = useEffectEvent(() => search(typed));
  useEffect(() => {
    const timer = setTimeout(() => searchAfterPause(), pauseMilliseconds);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <div role="search" className="audit__text">
      <TextField
        id={id}
        label={label}
        isLabelHidden
        icon={Search}
        placeholder={placeholder}
        value={typed}
        onValueChange={setTyped}
        onKeyDown={(event) => {
          if (event.key === 'Enter' || event.key === 'ArrowDown') {
            event.preventDefault();
            search(typed);
            onLeave();
          }
          if (event.key === 'Escape' && typed !== '') {
            event.preventDefault();
            setTyped('');
            search('');
          }
        }}
        end={hasScope && <ScopeMenu filter={filter} onChange={onChange} />}
      />
    </div>
  );
}
