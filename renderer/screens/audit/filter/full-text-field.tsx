import { ChevronDown, Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { AuditFilter } from '../../../../shared/contract/audit.ts';
import { Icon } from '../../../components/icon.tsx';
import { Menu } from '../../../components/menu.tsx';
import { TextField } from '../../../components/text-field.tsx';

/** How long to wait after the last letter before the list is searched, in milliseconds. */
const pauseMilliseconds = 220;

const places = [
  { value: null, label: 'in prompts and answers' },
  { value: 'prompt', label: 'in prompts' },
  { value: 'answer', label: 'in answers' },
] as const;

export interface FullTextFieldProps {
  filter: AuditFilter;
  /** `isTyped` while letters come: the way back then has one step for the whole word. */
  onChange: (filter: AuditFilter, isTyped: boolean) => void;
  /** Enter or arrow down: on to what was found. */
  onLeave: () => void;
}

function withText(filter: AuditFilter, text: string): AuditFilter {
  const { text: _before, textIn, ...rest } = filter;
  return text.trim() === '' ? rest : { ...rest, ...(textIn && { textIn }), text };
}

/** Full text over prompts and answers. It keeps the focus and every letter while the list follows. */
export function FullTextField({ filter, onChange, onLeave }: FullTextFieldProps) {
  const asked = filter.text ?? '';
  const [typed, setTyped] = useState(asked);
  const sent = useRef(asked);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const newest = useRef({ filter, onChange });
  newest.current = { filter, onChange };

  useEffect(() => {
    // Not the echo of what was typed here: a saved view, a chip, the way back.
    if (asked !== sent.current) setTyped(asked);
    sent.current = asked;
  }, [asked]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const search = (text: string) => {
    clearTimeout(timer.current);
    const next = withText(newest.current.filter, text);
    if ((next.text ?? '') === sent.current) return;
    const isTyped = sent.current !== '' && next.text !== undefined;
    sent.current = next.text ?? '';
    newest.current.onChange(next, isTyped);
  };
  const place = places.find(({ value }) => value === (filter.textIn ?? null)) ?? places[0];
  return (
    <div role="search" className="audit__text">
      <TextField
        id="audit-text"
        label="Search conversations"
        isLabelHidden
        icon={Search}
        placeholder="Search"
        value={typed}
        onValueChange={(text) => {
          setTyped(text);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => search(text), pauseMilliseconds);
        }}
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
        end={
          <Menu
            align="end"
            groups={[
              places.map(({ value, label }) => ({
                label,
                isChecked: value === place.value,
                onSelect: () => {
                  const { textIn: _before, ...rest } = filter;
                  onChange(value === null ? rest : { ...rest, textIn: value }, false);
                },
              })),
            ]}
          >
            <button type="button" className="audit__place caption tertiary nowrap">
              {place.label}
              <Icon icon={ChevronDown} size="tiny" />
            </button>
          </Menu>
        }
      />
    </div>
  );
}
