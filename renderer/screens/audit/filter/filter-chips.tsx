import { X } from 'lucide-react';
import { useState } from 'react';
import type { AuditFacets, AuditFilter } from '../../../../shared/contract/audit.ts';
import type { AuditSpan } from '../../../../shared/contract/audit-views.ts';
import { Icon } from '../../../components/icon.tsx';
import { filterChips, type FilterChip } from './filter-fields.ts';
import { FilterPopover } from './filter-menu.tsx';
import type { EditorProps } from './value-editors.tsx';

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

/** What narrows the list, one chip for each: a press on it changes it, its cross takes it out. */
export function FilterChips(props: ChipsProps) {
  return filterChips(props.filter, props.facets, props.span).map((chip) => (
    <Chip key={chip.id} chip={chip} {...props} />
  ));
}
