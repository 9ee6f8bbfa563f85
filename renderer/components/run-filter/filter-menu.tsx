import { Command } from 'cmdk';
import { Check, ChevronLeft, ListFilter, Search } from 'lucide-react';
import type { ReactElement } from 'react';
import type { AuditFacetCounts, AuditFacets, AuditFilter } from '../../../shared/contract/audit.ts';
import { aiSystems } from '../../../shared/contract/common.ts';
import { originApis, runStatuses } from '../../../shared/contract/conversations.ts';
import { moderationFlags } from '../../../shared/contract/moderation.ts';
import { formatCount } from '../format.ts';
import { Icon } from '../icon.tsx';
import { matchScore } from '../match-score.ts';
import { useAuditFacetCounts } from '../../queries/audit.ts';
import { type FilterField, type FilterFieldId, filterFields, type ListFieldId, nameOfValue } from './filter-fields.ts';
import { Button, IconButton } from '../button.tsx';
import { Popover } from '../popover.tsx';
import {
  DateEditor,
  type EditorProps,
  FeedbackTextEditor,
  HasFeedbackEditor,
  HeaderEditor,
  IdEditor,
  RangeEditor,
} from './value-editors.tsx';

interface ListOption {
  value: string;
  label: string;
  runs: number;
}

/** The possible values of a field with the rest of the filter, and the few constant ones. */
function listOptions(
  field: ListFieldId,
  counts: AuditFacetCounts | undefined,
  facets: AuditFacets | undefined,
): ListOption[] {
  /** Without `values`, those that were counted. A value may be counted more than once: a model with each provider. */
  function options<Item extends { runs: number }>(
    items: readonly Item[] = [],
    valueOf: (item: Item) => string,
    values: readonly string[] = items.map(valueOf),
  ): ListOption[] {
    const runs = new Map<string, number>();
    for (const item of items) runs.set(valueOf(item), (runs.get(valueOf(item)) ?? 0) + item.runs);
    return [...new Set(values)].map((value) => ({
      value,
      label: nameOfValue(field, value, facets),
      runs: runs.get(value) ?? 0,
    }));
  }
  switch (field) {
    case 'aiSystems':
      return options(counts?.aiSystems, ({ aiSystem }) => aiSystem, aiSystems);
    case 'statuses':
      return options(counts?.statuses, ({ status }) => status, runStatuses);
    case 'models':
      return options(counts?.models, ({ model }) => model);
    case 'callerIds':
      return options(counts?.callers, ({ callerId }) => callerId);
    case 'tags':
      return options(counts?.tags, ({ tag }) => tag);
    case 'origins':
      return options(counts?.origins, ({ api }) => api, originApis);
    case 'clients':
      return options(counts?.clients, ({ client }) => client);
    case 'finishReasons':
      return options(counts?.finishReasons, ({ finishReason }) => finishReason);
    case 'errorCodes':
      return options(counts?.errorCodes, ({ errorCode }) => errorCode);
    case 'moderationFlags':
      return options(counts?.moderationFlags, ({ flag }) => flag, moderationFlags);
  }
}

/** Values of a field, selected by typing and Enter; each applies at once. */
function ListEditor({
  field,
  filter,
  facets,
  onChange,
}: {
  field: Extract<FilterField, { kind: 'list' }>;
  filter: AuditFilter;
  facets: AuditFacets | undefined;
  onChange: (filter: AuditFilter) => void;
}) {
  const chosen: readonly string[] = filter[field.id] ?? [];
  const counts = useAuditFacetCounts(filter).data;
  const known = listOptions(field.id, counts, facets);
  const unknown = chosen.filter((value) => !known.some((option) => option.value === value));
  const options = [
    ...known,
    ...unknown.map((value) => ({ value, label: nameOfValue(field.id, value, facets), runs: 0 })),
  ];
  const toggle = (value: string) => {
    const next = chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value];
    const { [field.id]: _before, ...rest } = filter;
    onChange(next.length === 0 ? rest : { ...rest, [field.id]: next });
  };
  return (
    <Command label={field.name} loop filter={(_value, search, keywords) => matchScore(search, keywords ?? [])}>
      <div className="combobox__search">
        <Icon icon={Search} size="small" />
        <Command.Input autoFocus placeholder={`${field.name}: ${field.isEvery ? 'all of' : 'any of'}`} />
      </div>
      <Command.List className="combobox__list scroll">
        <Command.Empty className="combobox__empty">
          {options.length === 0 ? 'No values in the matching runs' : 'No matching values'}
        </Command.Empty>
        {options.map(({ value, label, runs }) => (
          <Command.Item
            key={value}
            value={value}
            keywords={[label]}
            className="menu__item"
            aria-checked={chosen.includes(value)}
            onSelect={() => toggle(value)}
          >
            <span className="menu__check">{chosen.includes(value) && <Icon icon={Check} size="small" />}</span>
            <span className="grow truncate">{label}</span>
            <span className="caption tertiary numbers">{formatCount(runs)}</span>
          </Command.Item>
        ))}
      </Command.List>
    </Command>
  );
}

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

interface FilterPopoverProps {
  filter: AuditFilter;
  facets: AuditFacets | undefined;
  onChange: EditorProps['onDone'];
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  /** The field that is edited; null for the list of fields. */
  fieldId: FilterFieldId | null;
  /** Absent if the popover belongs to one field. */
  onFieldChange?: (fieldId: FilterFieldId | null) => void;
  trigger: ReactElement;
}

/** The editor of one field, under the button that opens it. */
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

/** All filters: a searchable list, then the editor of the selected field. */
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
