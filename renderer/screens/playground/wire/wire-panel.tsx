import './wire.css';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { memo, useMemo } from 'react';
import { Segmented } from '../../../components/choices.tsx';
import { CopyButton, IconButton } from '../../../components/button.tsx';
import { formatPlural } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { ProviderExchanges } from '../../../components/provider-exchanges.tsx';
import { Badge } from '../../../components/badges.tsx';
import { Menu } from '../../../components/menu.tsx';
import { draftSlot } from '../../../stores/completion-runs.ts';
import { getActiveDraft, useActiveDraft, useDrafts } from '../../../stores/playground-drafts.ts';
import type { CompletionRun } from '../../../stores/live-runs.ts';
import type { WireLog } from '../../../stores/run-stream.ts';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import type { ShownRun } from '../answer/shown-run.ts';
import { useAnswer, useChosenModel, useLiveRun } from '../session/use-runner.ts';
import { FramesTable, JsonText } from './frames-table.tsx';
import { codeLanguages, transports, useServiceAddress, useWireCode } from './wire-code.ts';
import { longestGap, publicRequest, requestText, tickPositions } from './wire-model.ts';

const transportOptions = (['sync', 'json-array', 'sse'] as const).map((value) => ({
  value,
  label: transports[value].title,
}));
const tickWidth = 150;

function StatusBadge({ status }: { status: number | null }) {
  if (status === null) return null;
  return <Badge tone={status < 400 ? 'positive' : 'negative'}>{status}</Badge>;
}

/** Less than a hundredth more frames move the ticks by less than their width, and reading all of them takes long. */
function countToDraw(count: number): number {
  if (count < 200) return count;
  const step = Math.max(50, 2 ** (Math.floor(Math.log2(count)) - 7));
  return count - (count % step);
}

/** The arrival times of the frames as ticks on a line. */
function Ticks({ run }: { run: CompletionRun }) {
  const { frames } = run.wire;
  const count = run.frameCount;
  const drawnCount = run.endedAt === null ? countToDraw(count) : count;
  const ticks = useMemo(
    () => tickPositions(frames, drawnCount, run.startedAt, tickWidth),
    [frames, drawnCount, run.startedAt],
  );
  const gap = useMemo(() => Math.round(longestGap(frames, drawnCount)), [frames, drawnCount]);
  if (count === 0) return null;
  // One frame has no gap.
  const label = formatPlural(count, 'frame') + (count > 1 ? `, longest gap ${gap.toLocaleString('en')} ms` : '');
  return (
    <>
      <svg
        className="wire__ticks wide-only"
        viewBox={`0 0 ${tickWidth} 16`}
        role="img"
        aria-label={`Arrival of ${label}`}
      >
        <path d={ticks.map((x) => `M${x} 4v8`).join('')} />
      </svg>
      <span className="caption tertiary nowrap">{label}</span>
    </>
  );
}

/** Time of day with milliseconds: `14:09:31.204`. */
function preciseClock(time: Date): string {
  const part = (value: number, length = 2): string => String(value).padStart(length, '0');
  return `${part(time.getHours())}:${part(time.getMinutes())}:${part(time.getSeconds())}.${part(time.getMilliseconds(), 3)}`;
}

const RequestView = memo(function RequestView({ wire, sentAt }: { wire: WireLog; sentAt: number }) {
  const address = useServiceAddress();
  const request = publicRequest(wire);
  const { line, head, body } = requestText(request, address);
  const bytes = new TextEncoder().encode(request.body).byteLength;
  const [method, ...path] = line.split(' ');
  return (
    <section className="panel wire__request" aria-label="Request">
      <div className="header">
        <h3>Request</h3>
        <span className="caption tertiary nowrap">
          {bytes.toLocaleString('en')} bytes, sent {preciseClock(new Date(sentAt))}
        </span>
        <span className="grow" />
        <CopyButton text={request.body} label="Copy body" isIconOnly size="small" />
      </div>
      <pre className="scroll wire__text mono" tabIndex={0} aria-label="Request as sent">
        <span className="tok-key">{method}</span> {path.join(' ')}
        {'\n'}
        {head.map(([name, value]) => (
          <span key={name}>
            <span className="tok-var">{name}</span>
            <span className="tok-punc">:</span> {value}
            {'\n'}
          </span>
        ))}
        {'\n'}
        {body.length > 100_000 ? body : <JsonText text={body} />}
      </pre>
    </section>
  );
});

const CopyAs = memo(function CopyAs() {
  const draft = useActiveDraft();
  const code = useWireCode(draft, useChosenModel(draft));
  const language = usePlaygroundView((view) => view.codeLanguage);
  return (
    <span className="row wire__copy">
      <CopyButton text={() => code(language)} label={`Copy as ${language}`} size="small" variant="quiet" />
      <Menu
        align="end"
        groups={[
          codeLanguages.map((name) => ({
            label: name,
            isChecked: name === language,
            onSelect: () => usePlaygroundView.setState({ codeLanguage: name }),
          })),
        ]}
      >
        <IconButton icon={ChevronDown} label="Code language" size="small" />
      </Menu>
    </span>
  );
});

const wireViews = [
  { value: 'service', label: 'Request' },
  { value: 'provider', label: 'Provider' },
] as const;

function ServiceView({ run, isStored }: { run: CompletionRun | null; isStored: boolean }) {
  if (!run) {
    return (
      <p className="wire__empty small secondary">
        {isStored
          ? "The window's own request and frames aren't stored. Select Provider to see what the provider received."
          : 'Run the prompt to see its request and response frames.'}
      </p>
    );
  }
  return (
    <div className="wire__pair">
      <RequestView wire={run.wire} sentAt={run.sentAt} />
      <FramesTable run={run} />
    </div>
  );
}

function ProviderView({ shown }: { shown: ShownRun | null }) {
  if (!shown) return <p className="wire__empty small secondary">Run the prompt to see what the provider receives.</p>;
  const hasEnded = shown.state !== 'connecting' && shown.state !== 'streaming';
  if (!hasEnded) return <p className="wire__empty small secondary">Shown when the run ends.</p>;
  // A run that the service rejected has no id and called no provider.
  if (shown.runId === null) return <p className="wire__empty small secondary">This run didn't reach a provider.</p>;
  return <ProviderExchanges key={shown.runId} runId={shown.runId} />;
}

export function toggleWire(): void {
  usePlaygroundView.setState(({ isWireOpen }) => ({ isWireOpen: !isWireOpen }));
}

const TransportChoice = memo(function TransportChoice() {
  const { id, transport } = useActiveDraft();
  const { change } = useDrafts.getState();
  return (
    <Segmented
      label="Transport"
      value={transport}
      onValueChange={(next) => change(id, { transport: next })}
      options={transportOptions}
    />
  );
});

/** `run` is null before the first run of this draft since the window opened. */
function WireBar({ run }: { run: CompletionRun | null }) {
  const { isWireOpen, wireView } = usePlaygroundView();
  const request = run && publicRequest(run.wire);
  return (
    <div className="wire__bar">
      <h2 className="section-title">
        <button type="button" className="row wire__toggle" aria-expanded={isWireOpen} onClick={toggleWire}>
          <Icon icon={isWireOpen ? ChevronDown : ChevronRight} size="small" />
          Wire
        </button>
      </h2>
      {isWireOpen && (
        <Segmented
          label="Wire view"
          value={wireView}
          onValueChange={(next) => usePlaygroundView.setState({ wireView: next })}
          options={wireViews}
        />
      )}
      {run && request && (!isWireOpen || wireView === 'service') && (
        <>
          <span className="caption secondary nowrap truncate">
            {request.method} {request.path}
          </span>
          <StatusBadge status={run.wire.status} />
          {!isWireOpen && <Ticks run={run} />}
        </>
      )}
      {!run && !isWireOpen && <span className="caption tertiary truncate">Raw request and response frames</span>}
      <span className="grow" />
      {isWireOpen && wireView === 'service' && <TransportChoice />}
      <CopyAs />
    </div>
  );
}

/** What goes over the wire: the request and each frame with its time, what the provider received, and the same call as code. */
export function WirePanel() {
  const { isWireOpen, wireView } = usePlaygroundView();
  const draftId = useDrafts((state) => getActiveDraft(state).id);
  const live = useLiveRun(draftSlot(draftId));
  const shown = useAnswer();
  // The request and frames of the window's own call aren't stored; what the provider received is.
  const run = live?.key === shown?.key ? live : null;
  return (
    <section className={isWireOpen ? 'wire is-open' : 'wire'} aria-label="Wire">
      <WireBar run={run} />
      {isWireOpen && (
        <div className="wire__body">
          {wireView === 'service' ? (
            <ServiceView run={run} isStored={shown !== null} />
          ) : (
            <ProviderView shown={shown} />
          )}
        </div>
      )}
    </section>
  );
}
