import { PanelLeft } from 'lucide-react';
import type { AuditFilter, AuditSummary } from '../../../shared/contract/audit.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Switch } from '../../components/choices.tsx';
import { formatCost, formatDate, formatPlural, formatTime } from '../../components/format.ts';
import { FilterChips, useFilterMenu } from '../../components/run-filter/filter-chips.tsx';
import { FilterMenu } from '../../components/run-filter/filter-menu.tsx';
import { FullTextField } from '../../components/run-filter/full-text-field.tsx';
import { useAuditFacets } from '../../queries/audit.ts';
import { isRecording, recordedApis, useRecordedSummary } from '../../queries/recorded-calls.ts';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';
import { useActions } from '../../stores/actions.ts';
import { useRecorderView } from '../../stores/recorder.ts';
import { showToast } from '../../stores/toasts.ts';
import { levelsOf } from './recording-rules.tsx';

/** Pauses the recording of all APIs, and continues as it was before. */
function useRecordingSwitch(): { isOn: boolean; change: (isOn: boolean) => void } | null {
  const recorder = useSettings().data?.recorder;
  const update = useUpdateSettings();
  if (!recorder) return null;
  const change = (isOn: boolean): void => {
    const next = { ...recorder, isPaused: !isOn };
    // Nothing is chosen for any API: metadata are the least that can be recorded.
    const levels = isOn && !isRecording(next) ? levelsOf('metadata') : recorder.levels;
    update.mutate({ recorder: { ...next, levels } });
  };
  return { isOn: isRecording(recorder), change };
}

/** The beginning of the first bucket, which has the first call. */
function startOf({ buckets, bucketSize }: AuditSummary): string | null {
  const start = buckets[0]?.start;
  if (start === undefined) return null;
  return bucketSize === 'minute' || bucketSize === 'hour' ? formatTime(start) : formatDate(start.slice(0, 10), 'short');
}

function costOf({ cost, runs, runsWithoutCost }: AuditSummary): string | null {
  if (runsWithoutCost === runs) return null;
  return runsWithoutCost === 0 ? formatCost(cost) : `at least ${formatCost(cost)}`;
}

/** `4 programs, 41 calls since 13:50, $0.38`. */
export function summaryText(summary: AuditSummary, programs: number, clearedAt: string | null): string {
  if (summary.runs === 0) return clearedAt === null ? 'No calls' : `No calls since ${formatTime(clearedAt)}`;
  const start = clearedAt === null ? startOf(summary) : formatTime(clearedAt);
  const calls = `${formatPlural(summary.runs, 'call')}${start === null ? '' : ` since ${start}`}`;
  const parts = [programs === 0 ? null : formatPlural(programs, 'program'), calls, costOf(summary)];
  return parts.filter((part) => part !== null).join(', ');
}

function Summary({ filter, revision }: Pick<RecorderToolbarProps, 'filter' | 'revision'>) {
  const clearedAt = useRecorderView((view) => view.clearedAt);
  const { data } = useRecordedSummary(filter, revision);
  return (
    <span className="recorder__summary small tertiary truncate" role="status">
      {data && summaryText(data.summary, data.programs, clearedAt)}
    </span>
  );
}

/** The filter with the recorded APIs, so that the counts of values are those of recorded calls. */
function withoutApis({ origins, ...rest }: AuditFilter): AuditFilter {
  const isAll = recordedApis.every((api) => origins?.includes(api));
  return isAll || !origins ? rest : { ...rest, origins };
}

function clearList(): void {
  useRecorderView.setState({ clearedAt: new Date().toISOString(), chosenId: null });
  showToast({
    tone: 'neutral',
    text: 'The list shows new calls only. Earlier ones are still in the audit.',
    action: { label: 'Show all', run: showAll },
  });
}

function showAll(): void {
  useRecorderView.setState({ clearedAt: null });
}

function setFilter(filter: AuditFilter): void {
  useRecorderView.setState({ filter: withoutApis(filter), chosenId: null });
}

function useToolbarActions(openMenu: () => void, isCleared: boolean): void {
  const group = 'Recorder';
  useActions('recorder-list', [
    {
      id: 'recorder.find',
      title: 'Find in calls',
      group,
      keys: '/',
      run: () => document.getElementById('recorder-text')?.focus(),
    },
    { id: 'recorder.filter', title: 'Filter calls', group, keys: 'F', run: openMenu },
    isCleared
      ? { id: 'recorder.all', title: 'Show all calls', group, run: showAll }
      : { id: 'recorder.clear', title: 'Clear the list of calls', group, run: clearList },
  ]);
}

interface RecorderToolbarProps {
  /** With the recorded APIs. */
  filter: AuditFilter;
  isConnectOpen: boolean;
  /** Whether the list has no calls. */
  isEmpty: boolean;
  /** Changes with the list. */
  revision: string;
  /** Moves the focus to the list. */
  onLeave: () => void;
}

/** Whether calls are recorded, how many there are, and which of them the list shows. */
export function RecorderToolbar({ filter, isConnectOpen, isEmpty, revision, onLeave }: RecorderToolbarProps) {
  const recording = useRecordingSwitch();
  const facets = useAuditFacets().data;
  const { filter: chosen, clearedAt } = useRecorderView();
  const menu = useFilterMenu();
  useToolbarActions(() => menu.onOpenChange(true), clearedAt !== null);
  return (
    <div className="toolbar recorder__bar" role="group" aria-label="Calls of other programs">
      <IconButton
        icon={PanelLeft}
        label="Connect a program"
        className="narrow-only"
        aria-pressed={isConnectOpen}
        onClick={() => useRecorderView.setState({ isConnectOpen: !isConnectOpen })}
      />
      {recording && <Switch label="Recording" isChecked={recording.isOn} onCheckedChange={recording.change} />}
      {recording?.isOn === false ? (
        <span className="recorder__summary small caution truncate" role="status">
          Paused: calls go through without a record
        </span>
      ) : (
        <Summary filter={filter} revision={revision} />
      )}
      <FullTextField
        id="recorder-text"
        label="Find in calls"
        placeholder="Find in calls"
        hasScope={false}
        filter={chosen}
        onChange={setFilter}
        onLeave={onLeave}
      />
      <div className="audit__chips recorder__chips">
        <FilterChips filter={chosen} span={null} facets={facets} onChange={setFilter} />
        <FilterMenu
          filter={{ ...chosen, origins: chosen.origins ?? recordedApis }}
          facets={facets}
          onChange={setFilter}
          {...menu}
        />
      </div>
      {clearedAt === null ? (
        <Button aria-disabled={isEmpty || undefined} onClick={clearList}>
          Clear list
        </Button>
      ) : (
        <Button onClick={showAll}>Show all</Button>
      )}
    </div>
  );
}
