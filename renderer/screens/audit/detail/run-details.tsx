import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { ConversationDetail, ConversationRun } from '../../../../shared/contract/conversations.ts';
import { CopyButton } from '../../../components/button.tsx';
import { FrameStrip } from '../../../components/frame-strip.tsx';
import { formatCost, formatRunDuration, formatWhole } from '../../../components/format.ts';
import { finishName, originName } from '../../../components/run-words.ts';
import { useRun } from '../../../queries/runs.ts';
import { promptAddress } from '../../../shell/addresses.ts';
import type { AuditFacets } from '../../../../shared/contract/audit.ts';
import { callerName, formatMoment } from '../../../components/run-filter/filter-fields.ts';

type Detail = readonly [name: string, value: ReactNode];

function DetailList({ title, details }: { title: string; details: readonly Detail[] }) {
  return (
    <article className="turn">
      <h3>{title}</h3>
      <dl className="turn__pairs">
        {details.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </article>
  );
}

function Id({ id, label }: { id: string | null; label: string }) {
  if (id === null) return <span className="tertiary">none</span>;
  return (
    <span className="row">
      <span className="mono--small truncate">{id}</span>
      <CopyButton text={id} label={`Copy ${label}`} isIconOnly size="small" />
    </span>
  );
}

function VersionLink({ run: { promptId, promptVersionId } }: { run: ConversationRun }) {
  if (promptId === null || promptVersionId === null) return <span className="tertiary">no</span>;
  return (
    <Link className="link" href={promptAddress(promptId, promptVersionId)}>
      Open the version
    </Link>
  );
}

function shown(value: unknown): ReactNode {
  return <span className="mono--small turn__text">{typeof value === 'string' ? value : JSON.stringify(value)}</span>;
}

function absent(value: number | null, format: (value: number) => string): ReactNode {
  return value === null ? <span className="tertiary">unknown</span> : <span className="numbers">{format(value)}</span>;
}

function reported(tokens: number | null | undefined): ReactNode {
  if (tokens == null) return <span className="tertiary">not reported</span>;
  return <span className="numbers">{formatWhole(tokens)}</span>;
}

function pricesDate({ cost }: ConversationRun): ReactNode {
  if (cost == null) return <span className="tertiary">none</span>;
  return cost.pricesFrom ?? 'Earlier version: without cache prices';
}

/** Headers of the caller, metadata, and every ID by which the run can be found again. */
export function HeadersPart({ run, conversationId }: { run: ConversationRun; conversationId: string }) {
  const headers = Object.entries(run.appHeaders);
  const metadata = Object.entries(run.metadata ?? {});
  return (
    <>
      {headers.length === 0 ? (
        <p className="turn tertiary">The caller sent no x-app headers.</p>
      ) : (
        <DetailList title="Headers" details={headers.map(([name, value]) => [`x-app-${name}`, shown(value)])} />
      )}
      {metadata.length > 0 && (
        <DetailList title="Metadata" details={metadata.map(([name, value]) => [name, shown(value)])} />
      )}
      <DetailList
        title="Ids"
        details={[
          ['Conversation', <Id key="conversation" id={conversationId} label="conversation ID" />],
          ['Run', <Id key="run" id={run.conversationRunId} label="run ID" />],
          ['Message', <Id key="message" id={run.messageId} label="message ID" />],
          ['Prompt', <Id key="prompt" id={run.promptId} label="prompt ID" />],
          ['Prompt version', <Id key="version" id={run.promptVersionId} label="prompt version ID" />],
          ['Library version', <VersionLink key="library" run={run} />],
        ]}
      />
    </>
  );
}

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** Where a recorded or imported call comes from. Nothing for a completion, which all callers know. */
function originDetails({ origin }: ConversationRun, httpStatus: number | null): [string, string][] {
  if (origin.api === 'completions') return [];
  return [
    ['Recorded from', originName(origin.api)],
    ['Program', origin.client ?? 'unknown'],
    ...(httpStatus === null ? [] : [['HTTP status', String(httpStatus)] as [string, string]]),
  ];
}

/** Times, tokens, cost and parameters of the run. */
export function TimingPart({ run }: { run: ConversationRun }) {
  const { usage, timing } = run;
  // Only the window gets credits and the raw usage; a conversation in the API has neither.
  const own = useRun(run.conversationRunId).data;
  const parameters = Object.entries(run.input.configuration ?? {});
  return (
    <>
      <DetailList
        title="Timing"
        details={[
          ['Started', moment.format(new Date(run.createdAt))],
          ['Ended', run.completedAt ? moment.format(new Date(run.completedAt)) : 'In progress'],
          ['First token', absent(timing.firstTokenMs, formatRunDuration)],
          ['Total', absent(timing.totalMs, formatRunDuration)],
          ['Finish reason', run.output.finishReason === null ? 'none' : finishName(run.output.finishReason)],
          ...(run.frames ? [['Frames', <FrameStrip key="frames" frames={run.frames} />] as [string, ReactNode]] : []),
        ]}
      />
      <DetailList
        title="Usage"
        details={[
          ['Prompt tokens', absent(usage?.prompt_tokens ?? null, formatWhole)],
          ['Cached', reported(usage?.details?.cached_tokens)],
          ['Written to the cache', reported(usage?.details?.cache_write_tokens)],
          ['Completion tokens', absent(usage?.completion_tokens ?? null, formatWhole)],
          ['Reasoning', reported(usage?.details?.reasoning_tokens)],
          ['Cost', absent(run.cost?.amount ?? null, formatCost)],
          ['Prices from', pricesDate(run)],
          ['Credits', absent(own?.credits ?? null, formatWhole)],
          [
            'Served by',
            <span key="served" className="mono--small">
              {run.servedBy}
            </span>,
          ],
          ...originDetails(run, own?.httpStatus ?? null),
        ]}
      />
      {own?.rawUsage && <DetailList title="Usage from the provider" details={[['Raw', shown(own.rawUsage)]]} />}
      {parameters.length === 0 ? (
        <p className="turn tertiary">No parameters were set: the model ran with its defaults.</p>
      ) : (
        <DetailList title="Parameters" details={parameters.map(([name, value]) => [name, shown(value)])} />
      )}
    </>
  );
}

/** The run as the API returns it. */
export function JsonPart({ run }: { run: ConversationRun }) {
  const text = JSON.stringify(run, null, 2);
  return (
    <div className="turn__json">
      <CopyButton text={text} label="Copy JSON" size="small" />
      <pre className="mono turn__code">{text}</pre>
    </div>
  );
}

function shortId(id: string): string {
  return `${id.slice(0, 4)}…${id.slice(-4)}`;
}

interface ConversationDetailsProps {
  conversation: ConversationDetail;
  facets: AuditFacets | undefined;
}

/** The caller of the conversation, and its times and place. */
export function ConversationDetails({ conversation, facets }: ConversationDetailsProps) {
  return (
    <div className="audit__facts">
      <dl className="inline-facts">
        <div>
          <dt>Caller</dt>
          <dd className="truncate" title={conversation.callerId}>
            {callerName(conversation.callerId, facets)}
          </dd>
        </div>
        <div>
          <dt>Workspace</dt>
          <dd className={conversation.workspaceId ? 'mono--small' : 'tertiary'}>
            {conversation.workspaceId ? shortId(conversation.workspaceId) : 'None'}
          </dd>
        </div>
        <div>
          <dt>Updated</dt>
          <dd>{formatMoment(conversation.updatedAt)}</dd>
        </div>
        <div className="wide-only">
          <dt>ID</dt>
          <dd className="row">
            <span className="mono--small">{shortId(conversation.id)}</span>
            <CopyButton text={conversation.id} label="Copy conversation ID" isIconOnly size="small" />
          </dd>
        </div>
      </dl>
    </div>
  );
}
