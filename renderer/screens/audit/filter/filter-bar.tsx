import { Bookmark, Ellipsis, FileUp, ListChecks, ListPlus, Package, Repeat2, Users } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import type { AuditFacets } from '../../../../shared/contract/audit.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { Menu } from '../../../components/menu.tsx';
import { Notice } from '../../../components/state-panels.tsx';
import { Popover } from '../../../components/popover.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useCreateAuditView } from '../../../queries/audit-list.ts';
import { useAuditSource } from '../../../queries/team.ts';
import { AuditSourceSwitch } from '../../../components/audit-source-switch.tsx';
import { useActions } from '../../../stores/actions.ts';
import { newReviewQueueAddress, replayAddress, reviewsAddress } from '../../../shell/addresses.ts';
import { withoutSpan, writeFilter } from '../../../shell/audit-address.ts';
import { useSampleMenu } from '../sample-set.tsx';
import { FilterChips, useFilterMenu } from '../../../components/run-filter/filter-chips.tsx';
import { filterChips, isEverything } from '../../../components/run-filter/filter-fields.ts';
import { FilterMenu } from '../../../components/run-filter/filter-menu.tsx';
import { RunDatasetDialog } from './run-dataset.tsx';
import { FullTextField } from '../../../components/run-filter/full-text-field.tsx';
import type { AddressedAudit } from './use-audit-address.ts';
import type { EditorProps } from '../../../components/run-filter/value-editors.tsx';
import '../../../components/run-filter/filter.css';

function SaveView({
  filter,
  sort,
  span,
  suggestion,
  isOpen,
  setOpen,
}: Pick<AddressedAudit, 'filter' | 'sort' | 'span'> & {
  suggestion: string;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
}) {
  const [name, setName] = useState('');
  const create = useCreateAuditView();
  const save = () => {
    const given = name.trim() || suggestion;
    setOpen(false);
    setName('');
    create.mutate({ name: given, filter: withoutSpan(filter, span), sort, span });
  };
  return (
    <Popover label="Save view" isOpen={isOpen} onOpenChange={setOpen} align="end" trigger={<Button>Save view</Button>}>
      <form
        className="filter-form"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <TextField
          label="View name"
          autoFocus
          maxLength={200}
          placeholder={suggestion}
          value={name}
          onValueChange={setName}
        />
        <Button type="submit" variant="primary" size="small">
          Save
        </Button>
      </form>
    </Popover>
  );
}

/** A suggested name for a view of this filter: its search terms and first values. */
function suggestedName(
  { filter, span }: Pick<AddressedAudit, 'filter' | 'span'>,
  facets: AuditFacets | undefined,
): string {
  const parts = [filter.text, ...filterChips(filter, facets, span).map(({ name, value }) => `${name} ${value}`)];
  return (
    parts
      .filter((part) => typeof part === 'string' && part !== '')
      .slice(0, 2)
      .join(', ')
      .slice(0, 100) || 'All conversations'
  );
}

export interface FilterBarProps {
  address: AddressedAudit;
  facets: AuditFacets | undefined;
  /** Moves the focus to the list. */
  onLeave: () => void;
  onExport: () => void;
  onImport: () => void;
  /** Content at the start: the saved views if they have no panel. */
  start?: ReactNode;
}

interface FilterActions {
  openMenu: () => void;
  saveView: () => void;
  /** Null without filters. */
  clear: (() => void) | null;
  exportPack: () => void;
  importLogs: () => void;
  /** Null for runs of the team. */
  createQueue: () => void;
}

function useFilterActions({ openMenu, saveView, clear, exportPack, importLogs, createQueue }: FilterActions): void {
  const group = 'Audit';
  useActions('audit-filter', [
    {
      id: 'audit.find',
      title: 'Search conversations',
      group,
      keys: '/',
      run: () => document.getElementById('audit-text')?.focus(),
    },
    { id: 'audit.filter', title: 'Filter conversations', group, keys: 'F', run: openMenu },
    { id: 'audit.save', title: 'Save view', group, keys: 'S', icon: Bookmark, run: saveView },
    {
      id: 'audit.export',
      title: 'Create evidence pack',
      group,
      keywords: ['export', 'redaction', 'zip'],
      icon: Package,
      run: exportPack,
    },
    {
      id: 'audit.import',
      title: 'Import logs',
      group,
      keywords: ['OpenTelemetry', 'Langfuse', 'traces', 'CSV'],
      icon: FileUp,
      run: importLogs,
    },
    {
      id: 'audit.review',
      title: 'New review queue',
      group,
      keywords: ['reviewers', 'rubric', 'sample'],
      icon: ListChecks,
      run: createQueue,
    },
    { id: 'audit.clear', title: 'Clear all filters', group, isEnabled: clear !== null, run: () => clear?.() },
  ]);
}

interface MoreActionsProps {
  onDataset: () => void;
  onImport: () => void;
  onQueue: () => void;
}

function MoreActions({ onDataset, onImport, onQueue }: MoreActionsProps) {
  const [, navigate] = useLocation();
  const samples = useSampleMenu();
  const groups = [
    [
      { label: 'Make a dataset', icon: ListPlus, onSelect: onDataset },
      { label: 'Import logs', icon: FileUp, onSelect: onImport },
      { label: 'Replays', icon: Repeat2, onSelect: () => navigate(replayAddress()) },
    ],
    [
      { label: 'New review queue', icon: ListChecks, onSelect: onQueue },
      { label: 'Review queues', icon: Users, onSelect: () => navigate(reviewsAddress) },
    ],
    samples,
  ];
  return (
    <Menu align="end" groups={groups}>
      <IconButton icon={Ellipsis} label="More audit actions" variant="default" />
    </Menu>
  );
}

function IgnoredFilters({ names }: { names: readonly string[] }) {
  return (
    <div className="audit__ignored">
      <Notice tone="caution">Ignored invalid filters in this link: {names.join(', ')}.</Notice>
    </div>
  );
}

function ClearAll({ onClear }: { onClear: () => void }) {
  return (
    <Button variant="quiet" size="small" onClick={onClear}>
      Clear all
    </Button>
  );
}

/** Full-text search, the filters, and the actions on the matching conversations. */
export function FilterBar({ address, facets, onLeave, onExport, onImport, start }: FilterBarProps) {
  const { filter, sort, span, search, ignored } = address;
  const change: EditorProps['onDone'] = (next, nextSpan) => search({ filter: next, span: nextSpan });
  const menu = useFilterMenu();
  const [isSaving, setSaving] = useState(false);
  const [isMakingDataset, setMakingDataset] = useState(false);
  const clear = isEverything(filter) ? null : () => search({ filter: {} });
  const source = useAuditSource();
  const [, navigate] = useLocation();
  const createQueue = () => navigate(newReviewQueueAddress(writeFilter(filter, sort, span)));
  useFilterActions({
    openMenu: () => menu.onOpenChange(true),
    saveView: () => setSaving(true),
    clear,
    exportPack: onExport,
    importLogs: onImport,
    createQueue,
  });
  return (
    <>
      <div className="toolbar audit__search" role="group" aria-label="Filter">
        {start}
        <FullTextField
          id="audit-text"
          label="Search conversations"
          placeholder="Search"
          hasScope
          filter={filter}
          onChange={(next, isTyped) => search({ filter: next }, { replace: isTyped })}
          onLeave={onLeave}
        />
        <div className="audit__chips">
          <FilterChips filter={filter} span={span} facets={facets} onChange={change} />
          <FilterMenu filter={filter} facets={facets} onChange={change} {...menu} />
          {clear && <ClearAll onClear={clear} />}
        </div>
        <SaveView
          filter={filter}
          sort={sort}
          span={span}
          suggestion={suggestedName(address, facets)}
          isOpen={isSaving}
          setOpen={setSaving}
        />
        <AuditSourceSwitch />
        <Button icon={Package} onClick={onExport}>
          Evidence pack
        </Button>
        <MoreActions onDataset={() => setMakingDataset(true)} onImport={onImport} onQueue={createQueue} />
      </div>
      {isMakingDataset && <RunDatasetDialog selection={{ filter, source }} onClose={() => setMakingDataset(false)} />}
      {ignored.length > 0 && <IgnoredFilters names={ignored} />}
    </>
  );
}
