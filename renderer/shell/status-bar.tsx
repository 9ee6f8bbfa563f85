import { Cpu, Database as DatabaseIcon } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import type { OnDeviceState } from '../../shared/contract/on-device.ts';
import type { HostState } from '../../shared/contract/settings.ts';
import { formatBytes, formatCount, formatPlural } from '../components/format.ts';
import { Icon } from '../components/icon.tsx';
import { KeyCaps } from '../components/key-caps.tsx';
import { Dot, Spinner } from '../components/badges.tsx';
import { serverState, useHostState } from '../queries/host-state.ts';
import { useOnDevice } from '../queries/on-device.ts';
import { useSettings } from '../queries/settings.ts';
import { useTeam } from '../queries/team.ts';
import { useLiveRuns } from '../stores/live-runs.ts';
import { useConnection } from '../stores/window.ts';
import { settingsAddress } from './addresses.ts';
import { openOverlay } from './overlay-state.ts';

interface Summary {
  text: string;
  tone: 'accent' | 'negative' | 'neutral';
}

function readySummary(engine: OnDeviceState['engine']): Summary {
  if (engine.state === 'failed') return { text: 'On-device model failed', tone: 'negative' };
  if (engine.state === 'loading') return { text: 'Loading the on-device model', tone: 'accent' };
  const queued = engine.queued > 0 ? `, ${formatCount(engine.queued)} queued` : '';
  return {
    text: engine.isAnswering ? `On-device model is answering${queued}` : 'On-device model ready',
    tone: 'neutral',
  };
}

/**
 * One line about the on-device models. While the selected one is installed, a failed or paused download of another one is not
 * worth a word here: its card in the settings shows it.
 */
export function onDeviceSummary({ models, engine }: OnDeviceState): Summary {
  const downloading = models.find(({ state }) => state === 'downloading');
  if (downloading) {
    const percent = downloading.bytes ? `, ${Math.floor((downloading.receivedBytes / downloading.bytes) * 100)}%` : '';
    return { text: `Downloading ${downloading.title}${percent}`, tone: 'accent' };
  }
  const checking = models.find(({ state }) => state === 'checking');
  if (checking) return { text: `Checking ${checking.title}`, tone: 'accent' };
  if (models.some(({ isSelected, state }) => isSelected && state === 'installed')) return readySummary(engine);
  const failed = models.find(({ state }) => state === 'failed');
  if (failed) {
    const text = failed.source === 'file' ? `${failed.title} is not available` : `Couldn't download ${failed.title}`;
    return { text, tone: 'negative' };
  }
  const paused = models.find(({ state }) => state === 'paused');
  return { text: paused ? `Download of ${paused.title} paused` : 'No on-device model', tone: 'neutral' };
}

function OnDevice() {
  const { data } = useOnDevice();
  if (!data) return null;
  const { text, tone } = onDeviceSummary(data);
  return (
    <Link href={settingsAddress('on-device')} className={`statusbar__item ${tone === 'neutral' ? 'wide-only' : tone}`}>
      {tone === 'accent' ? <Spinner /> : <Icon icon={Cpu} size="tiny" />}
      {text}
    </Link>
  );
}

function Server() {
  const { data } = useHostState();
  const requested = useSettings().data?.localServer;
  const connection = useConnection((state) => state.connection);
  if (connection !== 'there') {
    return (
      <span className="negative">
        <Dot tone="hollow" />
        {connection === 'silent' ? 'Disconnected' : 'Not signed in'}
      </span>
    );
  }
  if (!data) return null;
  const state = serverState(data, requested);
  const text = {
    off: 'Local server off',
    changing: requested?.isEnabled ? 'Starting the local server' : 'Stopping the local server',
    on: `Local server on ${data.serverAddress ? new URL(data.serverAddress).host : ''}`,
    failed: "Local server couldn't start",
  }[state];
  return (
    <Link href={settingsAddress('local-server')} className={`statusbar__item ${state === 'failed' ? 'negative' : ''}`}>
      <Dot tone={state === 'on' ? 'positive' : 'hollow'} />
      {text}
    </Link>
  );
}

/** Loaded after the first paint: it needs the contract of comparisons. If it can't be loaded, the rest of the window works without it. */
const RunningComparisons = lazy(() =>
  import('./running-comparisons.tsx').then(
    (module) => ({ default: module.RunningComparisons }),
    () => ({ default: () => null }),
  ),
);

/** The host's count may be some seconds old, so the count is at least that of the active runs. */
export function databaseSummary({ runs, databaseBytes }: Pick<HostState, 'runs' | 'databaseBytes'>, streaming: number) {
  const count = Math.max(runs, streaming);
  return count === 0 ? 'No runs yet' : `${formatPlural(count, 'run')}, ${formatBytes(databaseBytes)}`;
}

function Database() {
  const { data } = useHostState();
  const streaming = useLiveRuns((state) => state.activeCount);
  if (!data) return null;
  const text = databaseSummary(data, streaming);
  return (
    <Link href={settingsAddress('data')} className="statusbar__item wide-only numbers">
      {text}
    </Link>
  );
}

function TeamProgress() {
  const { data } = useTeam();
  if (!data || data.address === null || data.status === 'off') return null;
  const waiting = data.waiting > 0 ? `, ${formatCount(data.waiting)} waiting` : '';
  const text = {
    connecting: 'Connecting to the team database',
    copying: `Copying to the team database${waiting}`,
    'up-to-date': 'Team database up to date',
    offline: `Team database offline${waiting}`,
    'read-only': 'Team database reads only',
  }[data.status];
  const isCalm = data.status === 'up-to-date' || data.status === 'connecting' || data.status === 'copying';
  return (
    <Link href={settingsAddress('team')} className={`statusbar__item ${isCalm ? 'wide-only' : 'caution'}`}>
      <Icon icon={DatabaseIcon} size="tiny" />
      {text}
    </Link>
  );
}

/** Background activity. Each entry links to its page. */
export function StatusBar() {
  const streaming = useLiveRuns((state) => state.activeCount);
  return (
    <footer className="statusbar">
      <Server />
      <OnDevice />
      <TeamProgress />
      <Suspense>
        <RunningComparisons />
      </Suspense>
      {streaming > 0 && <span className="accent numbers">{formatPlural(streaming, 'run')} streaming</span>}
      <span className="push" />
      <Database />
      <button type="button" className="statusbar__item" onClick={() => openOverlay('keys')}>
        <KeyCaps keys="?" />
        Shortcuts
      </button>
    </footer>
  );
}
