import { Cpu } from 'lucide-react';
import { Link } from 'wouter';
import type { OnDeviceState } from '../../shared/contract/on-device.ts';
import { formatBytes, formatCount, formatPlural } from '../components/format.ts';
import { Icon } from '../components/icon.tsx';
import { KeyCaps } from '../components/key-caps.tsx';
import { Dot, Spinner } from '../components/marks.tsx';
import { useHostState } from '../queries/host-state.ts';
import { useOnDevice } from '../queries/on-device.ts';
import { serverState } from '../queries/server-state.ts';
import { useSettings } from '../queries/settings.ts';
import { useActivity } from '../stores/activity.ts';
import { useConnection } from '../stores/connection.ts';
import { settingsAddress } from './addresses.ts';
import { openOverlay } from './overlay-state.ts';

/** One line about the on-device model, and whether something is being done about it. */
export function onDeviceSummary({ models, engine }: OnDeviceState): {
  text: string;
  tone: 'accent' | 'negative' | 'neutral';
} {
  const fetching = models.find(({ state }) => state === 'downloading');
  if (fetching) {
    const percent = fetching.bytes ? `, ${Math.floor((fetching.receivedBytes / fetching.bytes) * 100)}%` : '';
    return { text: `Downloading the on-device model${percent}`, tone: 'accent' };
  }
  if (models.some(({ state }) => state === 'checking')) return { text: 'Checking the on-device model', tone: 'accent' };
  if (models.some(({ state }) => state === 'failed'))
    return { text: 'The on-device model could not be fetched', tone: 'negative' };
  if (engine.state === 'failed') return { text: 'The on-device model failed', tone: 'negative' };
  if (models.some(({ state }) => state === 'paused'))
    return { text: 'Download of the on-device model paused', tone: 'neutral' };
  if (!models.some(({ isSelected, state }) => isSelected && state === 'installed'))
    return { text: 'No on-device model', tone: 'neutral' };
  if (engine.state === 'loading') return { text: 'Loading the on-device model', tone: 'accent' };
  const queued = engine.queued > 0 ? `, ${formatCount(engine.queued)} waiting` : '';
  return { text: engine.isAnswering ? `On-device model answers${queued}` : 'On-device model ready', tone: 'neutral' };
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
  const wanted = useSettings().data?.localServer;
  const connection = useConnection((state) => state.connection);
  if (connection !== 'there') {
    return (
      <span className="negative">
        <Dot tone="hollow" />
        {connection === 'silent' ? 'No answer from the host' : 'This browser is not let in'}
      </span>
    );
  }
  if (!data) return null;
  const state = serverState(data, wanted);
  const text = {
    off: 'Local server off',
    changing: wanted?.isEnabled ? 'Local server starts' : 'Local server stops',
    on: `Local server on ${data.serverAddress ? new URL(data.serverAddress).host : ''}`,
    failed: 'Local server could not start',
  }[state];
  return (
    <Link href={settingsAddress('local-server')} className={`statusbar__item ${state === 'failed' ? 'negative' : ''}`}>
      <Dot tone={state === 'on' ? 'positive' : 'hollow'} />
      {text}
    </Link>
  );
}

function Kept() {
  const { data } = useHostState();
  if (!data) return null;
  const text =
    data.runs === 0 ? 'No runs yet' : `${formatPlural(data.runs, 'run')}, ${formatBytes(data.databaseBytes)}`;
  return (
    <Link href={settingsAddress('data')} className="statusbar__item wide-only numbers">
      {text}
    </Link>
  );
}

/** What goes on without being looked at. Each fact leads to the page about it. */
export function StatusBar() {
  const streaming = useActivity((state) => state.streamingRuns);
  return (
    <footer className="statusbar">
      <Server />
      <OnDevice />
      {streaming > 0 && <span className="accent numbers">{formatPlural(streaming, 'run')} streaming</span>}
      <span className="push" />
      <Kept />
      <button type="button" className="statusbar__item" onClick={() => openOverlay('keys')}>
        <KeyCaps keys="?" />
        Keys
      </button>
    </footer>
  );
}
