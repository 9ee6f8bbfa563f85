import { Command } from 'cmdk';
import { Check, Search } from 'lucide-react';
import type { AuditFacetCounts, AuditFacets, AuditFilter } from '../../../../shared/contract/audit.ts';
import { aiSystems } from '../../../../shared/contract/common.ts';
import { runStatuses } from '../../../../shared/contract/conversations.ts';
import { moderationFlags } from '../../../../shared/contract/guard.ts';
import { formatCount } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { matchScore } from '../../../components/match-score.ts';
import { useAuditFacetCounts } from '../../../queries/audit.ts';
import { nameOfValue, type FilterField, type ListFieldId } from './filter-fields.ts';

interface ListOption {
  value: string;
  label: string;
  runs: number;
}

/** The values that a field can have with the rest of the filter, and the few that are always the same. */
export function listOptions(
  field: ListFieldId,
  counts: AuditFacetCounts | undefined,
  facets: AuditFacets | undefined,
): ListOption[] {
  const option = (value: string, runs: number): ListOption => ({
    value,
    label: nameOfValue(field, value, facets),
    runs,
  });
  const sum = <Item extends { runs: number }>(items: readonly Item[] = [], isOne: (item: Item) => boolean): number =>
    items.filter(isOne).reduce((total, { runs }) => total + runs, 0);
  switch (field) {
    case 'aiSystems':
      return aiSystems.map((value) =>
        option(
          value,
          sum(counts?.aiSystems, ({ aiSystem }) => aiSystem === value),
        ),
      );
    case 'statuses':
      return runStatuses.map((value) =>
        option(
          value,
          sum(counts?.statuses, ({ status }) => status === value),
        ),
      );
    case 'models': {
      const names = [...new Set((counts?.models ?? []).map(({ model }) => model))];
      return names.map((value) =>
        option(
          value,
          sum(counts?.models, ({ model }) => model === value),
        ),
      );
    }
    case 'callerIds':
      return (counts?.callers ?? []).map(({ callerId, runs }) => option(callerId, runs));
    case 'tags':
      return (counts?.tags ?? []).map(({ tag, runs }) => option(tag, runs));
    case 'finishReasons':
      return (counts?.finishReasons ?? []).map(({ finishReason, runs }) => option(finishReason, runs));
    case 'errorCodes':
      return (counts?.errorCodes ?? []).map(({ errorCode, runs }) => option(errorCode, runs));
    case 'moderationFlags':
      return moderationFlags.map((value) =>
        option(
          value,
          sum(counts?.moderationFlags, ({ flag }) => flag === value),
        ),
      );
  }
}

/** Values of a field, chosen by typing and Enter; each takes effect at once. */
export function ListEditor({
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
