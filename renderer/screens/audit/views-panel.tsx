import { Bookmark, Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { AuditFacets, AuditFilter, AuditSort, AuditSummary } from '../../../shared/contract/audit.ts';
import type { AuditSpan, AuditView } from '../../../shared/contract/audit-views.ts';
import { classNames } from '../../components/class-names.ts';
import { formatCount } from '../../components/format.ts';
import { IconButton } from '../../components/button.tsx';
import { Menu } from '../../components/menu.tsx';
import { Popover } from '../../components/popover.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useAuditViews, useCreateAuditView, useDeleteAuditView, useUpdateAuditView } from '../../queries/audit-list.ts';
import { useAuditFacetCounts } from '../../queries/audit.ts';
import { useAuditViewState } from '../../stores/audit.ts';
import { showToast } from '../../stores/toasts.ts';
import { withoutSpan, withSpan, writeFilter } from '../../shell/audit-address.ts';
import { isEverything } from '../../components/run-filter/filter-fields.ts';
import { replayAddress, reviewsAddress } from '../../shell/addresses.ts';

/** Views in the person's order, followed by those without a position in that order. */
export function orderViews<View extends { id: string }>(views: readonly View[], order: readonly string[]): View[] {
  const positionOf = (id: string): number => {
    const index = order.indexOf(id);
    return index < 0 ? order.length : index;
  };
  return views.toSorted((one, other) => positionOf(one.id) - positionOf(other.id));
}

/** The order after a view moves up or down. */
export function moveView(views: readonly { id: string }[], id: string, by: number): string[] {
  const ids = views.map((view) => view.id);
  const from = ids.indexOf(id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= ids.length) return ids;
  const moved = ids.toSpliced(from, 1);
  return moved.toSpliced(to, 0, id);
}

export interface ViewsPanelProps {
  filter: AuditFilter;
  sort: AuditSort;
  span: AuditSpan | null;
  facets: AuditFacets | undefined;
  summary: AuditSummary | undefined;
  /** Without a span, the filter's dates apply. */
  onOpen: (filter: AuditFilter, sort: AuditSort, span?: AuditSpan | null) => void;
}

function RenameField({ view, onEnd }: { view: AuditView; onEnd: () => void }) {
  const [name, setName] = useState(view.name);
  const update = useUpdateAuditView();
  const keep = () => {
    if (name.trim() !== '' && name.trim() !== view.name) update.mutate({ id: view.id, name: name.trim() });
    onEnd();
  };
  return (
    <div className="view__rename">
      <TextField
        label="View name"
        isLabelHidden
        size="small"
        autoFocus
        maxLength={200}
        value={name}
        onValueChange={setName}
        onBlur={keep}
        onFocus={(event) => event.currentTarget.select()}
        onKeyDown={(event) => {
          if (event.key === 'Enter') keep();
          if (event.key === 'Escape') onEnd();
        }}
      />
    </div>
  );
}

function useViewMenu(
  view: AuditView,
  views: readonly AuditView[],
  { filter: shown, sort: shownSort, span: shownSpan }: Pick<ViewsPanelProps, 'filter' | 'sort' | 'span'>,
) {
  const create = useCreateAuditView();
  const update = useUpdateAuditView();
  const remove = useDeleteAuditView();
  const order = (by: number) => useAuditViewState.setState({ viewOrder: moveView(views, view.id, by) });
  const removeIt = () => {
    const { name, filter, sort, span } = view;
    remove.mutate(view.id, {
      onSuccess: () =>
        showToast({
          tone: 'neutral',
          text: `Deleted view "${name}".`,
          action: { label: 'Undo', run: () => create.mutate({ name, filter, sort, span }) },
        }),
    });
  };
  const replace = () =>
    update.mutate({ id: view.id, filter: withoutSpan(shown, shownSpan), sort: shownSort, span: shownSpan });
  return (startRename: () => void) => [
    [
      { label: 'Rename', onSelect: startRename },
      { label: 'Update to current filters', onSelect: replace },
      { label: 'Move up', onSelect: () => order(-1), isDisabled: views[0]?.id === view.id },
      { label: 'Move down', onSelect: () => order(1), isDisabled: views.at(-1)?.id === view.id },
    ],
    [{ label: 'Delete', isNegative: true, onSelect: removeIt }],
  ];
}

function ViewRow({ view, views, ...panel }: ViewsPanelProps & { view: AuditView; views: readonly AuditView[] }) {
  const [isRenaming, setRenaming] = useState(false);
  const menu = useViewMenu(view, views, panel);
  const isOpen = writeFilter(view.filter, view.sort, view.span) === writeFilter(panel.filter, panel.sort, panel.span);
  if (isRenaming) return <RenameField view={view} onEnd={() => setRenaming(false)} />;
  return (
    <div className={classNames('view', 'view--saved', isOpen && 'is-selected')}>
      <button
        type="button"
        className="grow truncate"
        aria-current={isOpen || undefined}
        onClick={() => panel.onOpen(withSpan(view.filter, view.span, new Date()), view.sort, view.span)}
      >
        {view.name}
      </button>
      {isOpen && panel.summary && (
        <span className="caption tertiary numbers">{formatCount(panel.summary.conversations)}</span>
      )}
      <Menu groups={menu(() => setRenaming(true))} align="end">
        <IconButton icon={Ellipsis} label={`Actions for view ${view.name}`} size="small" className="view__menu" />
      </Menu>
    </div>
  );
}

interface FacetRow {
  value: string;
  runs: number;
  isOn: boolean;
  toggle: () => void;
}

function Facets({ title, rows }: { title: string; rows: readonly FacetRow[] }) {
  const maxRuns = Math.max(...rows.map(({ runs }) => runs), 1);
  if (rows.length === 0) return null;
  return (
    <section aria-label={title}>
      <div className="header">
        <h2>{title}</h2>
      </div>
      {rows.map(({ value, runs, isOn, toggle }) => (
        <button
          key={value}
          type="button"
          className={classNames('view', 'view--facet', isOn && 'is-selected')}
          aria-pressed={isOn}
          onClick={toggle}
        >
          <span className="truncate">{value}</span>
          <span className="view__bar" aria-hidden="true">
            <i style={{ width: `${Math.max(4, Math.round((runs / maxRuns) * 100))}%` }} />
          </span>
          <span className="tertiary caption numbers">{formatCount(runs)}</span>
        </button>
      ))}
    </section>
  );
}

const maxFacets = 6;

function useFacets({ filter, sort, onOpen }: ViewsPanelProps) {
  const counts = useAuditFacetCounts(filter).data;
  const toggleIn = (key: 'models' | 'tags', value: string) => {
    const { [key]: before, ...rest } = filter;
    const next = before?.includes(value) ? before.filter((one) => one !== value) : [...(before ?? []), value];
    onOpen(next.length === 0 ? rest : { ...rest, [key]: next }, sort);
  };
  /** The most frequent values and the selected ones, however rare. */
  const rowsOf = (key: 'models' | 'tags', runsOf: ReadonlyMap<string, number>): FacetRow[] => {
    const chosen = filter[key] ?? [];
    const others = [...runsOf.keys()].filter((value) => !chosen.includes(value));
    const shown = new Set([...chosen, ...others].slice(0, Math.max(maxFacets, chosen.length)));
    const inOrder = [...new Set([...runsOf.keys(), ...chosen])].filter((value) => shown.has(value));
    return inOrder.map((value) => ({
      value,
      runs: runsOf.get(value) ?? 0,
      isOn: chosen.includes(value),
      toggle: () => toggleIn(key, value),
    }));
  };
  const models = new Map<string, number>();
  for (const { model, runs } of counts?.models ?? []) models.set(model, (models.get(model) ?? 0) + runs);
  const tags = new Map((counts?.tags ?? []).map(({ tag, runs }) => [tag, runs]));
  return { models: rowsOf('models', models), tags: rowsOf('tags', tags) };
}

/** Saved views, and the most frequent models and tags as filters. */
export function ViewsPanel(props: ViewsPanelProps) {
  const { filter, sort, facets, onOpen } = props;
  const order = useAuditViewState((state) => state.viewOrder);
  const views = orderViews(useAuditViews().data?.data ?? [], order);
  const { models, tags } = useFacets(props);
  const isAll = isEverything(filter);
  return (
    <nav className="panel panel--inset audit__views scroll" aria-label="Saved views">
      <div className="header">
        <h2>Saved views</h2>
      </div>
      <button
        type="button"
        className={classNames('view', isAll && 'is-selected')}
        aria-current={isAll || undefined}
        onClick={() => onOpen({}, sort)}
      >
        <span className="grow truncate">All conversations</span>
        <span className="tertiary caption numbers">{facets && formatCount(facets.conversations)}</span>
      </button>
      {views.map((view) => (
        <ViewRow key={view.id} view={view} views={views} {...props} />
      ))}
      <Facets title="Model" rows={models} />
      <Facets title="Feedback tag" rows={tags} />
      <div className="header">
        <h2>Comparisons</h2>
      </div>
      <Link href={replayAddress()} className="view">
        Replays
      </Link>
      <div className="header">
        <h2>Reviews</h2>
      </div>
      <Link href={reviewsAddress} className="view">
        Review queues
      </Link>
    </nav>
  );
}

/** The saved views on a narrow screen. */
export function ViewsMenu(props: ViewsPanelProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover
      label="Saved views"
      isOpen={isOpen}
      onOpenChange={setOpen}
      className="audit__views-menu"
      trigger={<IconButton icon={Bookmark} label="Saved views" variant="default" />}
    >
      <ViewsPanel
        {...props}
        onOpen={(...view) => {
          setOpen(false);
          props.onOpen(...view);
        }}
      />
    </Popover>
  );
}
