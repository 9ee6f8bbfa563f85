import { X } from 'lucide-react';
import { useState } from 'react';
import type { AuditFacets, AuditFilter } from '../../../shared/contract/audit.ts';
import type { AuditSpan } from '../../../shared/contract/audit-views.ts';
import { Icon } from '../icon.tsx';
import { type FilterChip, filterChips, type FilterFieldId } from './filter-fields.ts';
import { FilterPopover } from './filter-menu.tsx';
import type { EditorProps } from './value-editors.tsx';
import './filter.css';

interface ChipsProps {
  filter: AuditFilter;
  span: AuditSpan | null;
  facets: AuditFacets | undefined;
  onChange: EditorProps['onDone'];
}

function Chip({ chip, filter, facets, onChange }: ChipsProps & { chip: FilterChip }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <span className="chip filter-chip" role="group" aria-label={chip.name}>
      <FilterPopover
        filter={filter}
        facets={facets}
        onChange={onChange}
        isOpen={isOpen}
        onOpenChange={setOpen}
        fieldId={chip.field}
        trigger={
          <button type="button" className="filter-chip__open">
            <span className="tertiary">{chip.name}</span>
            <span className="value truncate">{chip.value}</span>
          </button>
        }
      />
      <button type="button" aria-label={`Remove ${chip.name}`} onClick={() => onChange(chip.without)}>
        <Icon icon={X} size="tiny" />
      </button>
    </span>
  );
}

/** One chip per filter. A click on it edits the filter; its cross removes it. */
export function FilterChips(props: ChipsProps) {
  return filterChips(props.filter, props.facets, props.span).map((chip) => (
    <Chip key={chip.id} chip={chip} {...props} />
  ));
}

/** The menu of all fields, which opens without a chosen one. */
export function useFilterMenu() {
  const [isOpen, setOpen] = useState(false);
  const [fieldId, setFieldId] = useState<FilterFieldId | null>(null);
  const onOpenChange = (isNowOpen: boolean): void => {
    setFieldId(null);
    setOpen(isNowOpen);
  };
  return { isOpen, onOpenChange, fieldId, onFieldChange: setFieldId };
}
