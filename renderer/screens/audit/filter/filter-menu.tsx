import { Command } from 'cmdk';
import { ChevronLeft, ListFilter, Search } from 'lucide-react';
import type { ReactElement } from 'react';
import type { AuditFacets, AuditFilter } from '../../../../shared/contract/audit.ts';
import { Button } from '../../../components/button.tsx';
import { IconButton } from '../../../components/icon-button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { matchScore } from '../../../components/match-score.ts';
import { Popover } from '../../../components/popover.tsx';
import { DateEditor } from './date-editor.tsx';
import { filterFields, type FilterField, type FilterFieldId } from './filter-fields.ts';
import { ListEditor } from './list-editor.tsx';
import {
  FeedbackTextEditor,
  HasFeedbackEditor,
  HeaderEditor,
  IdEditor,
  RangeEditor,
  type EditorProps,
} from './value-editors.tsx';

function FieldEditor({ field, ...props }: EditorProps & { field: FilterField; onChange: EditorProps['onDone'] }) {
  if (field.kind === 'list') return <ListEditor field={field} {...props} />;
  if (field.kind === 'range') return <RangeEditor field={field} {...props} />;
  if (field.kind === 'id') return <IdEditor field={field} {...props} />;
  if (field.id === 'dates') return <DateEditor {...props} />;
  if (field.id === 'feedbackText') return <FeedbackTextEditor {...props} />;
  if (field.id === 'appHeaders') return <HeaderEditor {...props} />;
  return <HasFeedbackEditor {...props} />;
}

function FieldList({ onChoose }: { onChoose: (field: FilterFieldId) => void }) {
  return (
    <Command label="Filter by" loop filter={(_value, search, keywords) => matchScore(search, keywords ?? [])}>
      <div className="combobox__search">
        <Icon icon={Search} size="small" />
        <Command.Input autoFocus placeholder="Filter by" />
      </div>
      <Command.List className="combobox__list scroll">
        <Command.Empty className="combobox__empty">No matching filters</Command.Empty>
        {[...Map.groupBy(filterFields, ({ group }) => group)].map(([group, members]) => (
          <Command.Group key={group} heading={group}>
            {members.map((field) => (
              <Command.Item
                key={field.id}
                value={field.id}
                keywords={[field.name, group, ...(field.keywords ?? [])]}
                className="menu__item"
                onSelect={() => onChoose(field.id)}
              >
                <span className="grow">{field.name}</span>
              </Command.Item>
            ))}
          </Command.Group>
        ))}
      </Command.List>
    </Command>
  );
}

export interface FilterPopoverProps {
  filter: AuditFilter;
  facets: AuditFacets | undefined;
  onChange: EditorProps['onDone'];
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  /** The field that is edited; null for the list of fields. */
  fieldId: FilterFieldId | null;
  /** Absent where the popover belongs to one field. */
  onFieldChange?: (fieldId: FilterFieldId | null) => void;
  trigger: ReactElement;
}

/** What one field of the filter is set to, under the button that opens it. */
export function FilterPopover(props: FilterPopoverProps) {
  const { filter, facets, onChange, isOpen, onOpenChange, fieldId, onFieldChange, trigger } = props;
  const field = filterFields.find(({ id }) => id === fieldId);
  const done: EditorProps['onDone'] = (next, span) => {
    onOpenChange(false);
    onChange(next, span);
  };
  return (
    <Popover
      label={field ? `Filter: ${field.name}` : 'Filter'}
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      className="combobox filter-menu"
      trigger={trigger}
    >
      {field && onFieldChange && (
        <div className="filter-menu__head">
          <IconButton icon={ChevronLeft} label="All filters" size="small" onClick={() => onFieldChange(null)} />
          <span className="small medium">{field.name}</span>
        </div>
      )}
      {field ? (
        <FieldEditor key={field.id} field={field} filter={filter} facets={facets} onDone={done} onChange={onChange} />
      ) : (
        <FieldList onChoose={(id) => onFieldChange?.(id)} />
      )}
    </Popover>
  );
}

/** The way to every filter: a list that one types into, then the field itself. */
export function FilterMenu(props: Omit<FilterPopoverProps, 'trigger'>) {
  return (
    <FilterPopover
      {...props}
      trigger={
        <Button variant="quiet" icon={ListFilter} keys="F" aria-haspopup="dialog">
          Filter
        </Button>
      }
    />
  );
}
