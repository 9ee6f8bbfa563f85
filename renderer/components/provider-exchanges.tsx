import { useLocation } from 'wouter';
import { type ReactNode, useMemo, useRef } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import type {
  ExchangeText,
  HttpExchange,
  OnDeviceExchange,
  ProviderExchange,
} from '../../shared/contract/provider-exchanges.ts';
import { useProviderExchanges } from '../queries/runs.ts';
import { useSettings } from '../queries/settings.ts';
import { settingsAddress } from '../shell/addresses.ts';
import { Button, CopyButton } from './button.tsx';
import { Badge } from './badges.tsx';
import { classNames } from './class-names.ts';
import { EmptyState, Notice, QueryView } from './state-panels.tsx';
import { formatBytes, formatRunDuration, formatWhole } from './format.ts';
import './provider-exchanges.css';

/** JSON with line breaks; any other text unchanged. */
function readable({ text, isCut }: ExchangeText): string {
  if (isCut || !/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function withHead(first: string, headers: readonly (readonly [string, string])[], body: ExchangeText | null): string {
  const lines = [first, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return `${lines.join('\n')}\n\n${body === null ? '' : readable(body)}`;
}

type Headers = HttpExchange['request']['headers'];

function requestText({ request }: HttpExchange, headers: Headers = request.headers): string {
  return withHead(`${request.method} ${request.url}`, headers, request.body);
}

function responseText({ response }: HttpExchange, headers: Headers = response?.headers ?? []): string {
  if (response === null) return '';
  return withHead(`${response.status} ${response.statusText}`.trim(), headers, response.body);
}

function headerText(headers: Headers | undefined): string {
  return (headers ?? []).map(([name, value]) => `${name}: ${value}`).join('\n');
}

function promptText({ prompt, parameters }: OnDeviceExchange): string {
  const names = Object.entries(parameters).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `${names.join('\n')}\n\n${prompt?.text ?? ''}`.trimStart();
}

function onDeviceResponseText({ reasoning, response }: OnDeviceExchange): string {
  return reasoning === null ? response.text : `Reasoning:\n${reasoning.text}\n\nResponse:\n${response.text}`;
}

function sizeText({ bytes }: ExchangeText): string {
  return bytes < 10_000 ? `${formatWhole(bytes)} bytes` : formatBytes(bytes);
}

function timeText({ firstByteMs, totalMs }: Pick<HttpExchange, 'firstByteMs' | 'totalMs'>): string | null {
  const parts = [
    firstByteMs === null ? null : `first byte ${formatRunDuration(firstByteMs)}`,
    totalMs === null ? null : `total ${formatRunDuration(totalMs)}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(', ');
}

function cutText({ text, bytes }: ExchangeText): string {
  return `Only the first ${formatBytes(text.length)} of ${formatBytes(bytes)} are stored.`;
}

const rowHeight = 20;
/** A longer line continues on the next row: a line of one megabyte would block the window. */
const maxRowCharacters = 400;
/** Shorter texts are rendered in full, so that the browser can select and search them. */
const maxWholeCharacters = 40_000;

function rowsOf(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    if (line.length <= maxRowCharacters) return [line];
    const count = Math.ceil(line.length / maxRowCharacters);
    return Array.from({ length: count }, (_, index) =>
      line.slice(index * maxRowCharacters, (index + 1) * maxRowCharacters),
    );
  });
}

/** A text of any length in a fixed-width font. Of a long text, only the rows in view are rendered. */
function LongText({ text, label }: { text: string; label: string }) {
  const scroller = useRef<HTMLPreElement>(null);
  const isLong = text.length > maxWholeCharacters;
  const rows = useMemo(() => (isLong ? rowsOf(text) : []), [isLong, text]);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 20,
  });
  return (
    <pre ref={scroller} className="exchange__text scroll mono" tabIndex={0} aria-label={label}>
      {!isLong && text}
      {isLong && (
        <div style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => (
            <span key={index} className="exchange__row" style={{ transform: `translateY(${start}px)` }}>
              {rows[index]}
            </span>
          ))}
        </div>
      )}
    </pre>
  );
}

interface SideProps {
  title: string;
  /** Distinguishes the calls of one run. */
  number: string;
  badge?: ReactNode;
  details: readonly (string | null)[];
  /** The text that Copy copies: the body as sent or received. */
  body: ExchangeText | null;
  text: string;
  children?: ReactNode;
}

function Side({ title, number, badge, details, body, text, children }: SideProps) {
  const label = `Provider ${title.toLowerCase()}${number}`;
  return (
    <section className="panel exchange__side" aria-label={label}>
      <div className="header">
        <h3>{title}</h3>
        {badge}
        <span className="caption tertiary truncate">{details.filter((detail) => detail !== null).join(', ')}</span>
        <span className="grow" />
        {body && (
          <CopyButton text={body.text} label={`Copy ${title.toLowerCase()} body${number}`} isIconOnly size="small" />
        )}
      </div>
      {children}
      {body?.isCut && <Notice tone="caution">{cutText(body)}</Notice>}
      {text !== '' && <LongText text={text} label={`${label} as text`} />}
    </section>
  );
}

function HttpHeaders({ exchange: { request, response }, number }: { exchange: HttpExchange; number: string }) {
  const none = response === null ? ['no response'] : [];
  return (
    <>
      <Side title="Request headers" number={number} details={[]} body={null} text={headerText(request.headers)} />
      <Side title="Response headers" number={number} details={none} body={null} text={headerText(response?.headers)} />
    </>
  );
}

/** Without a part, both sides with their headers. */
function HttpSides({ exchange, number, part }: { exchange: HttpExchange; number: string; part: Part | undefined }) {
  const { request, response, error } = exchange;
  if (part === 'headers') return <HttpHeaders exchange={exchange} number={number} />;
  const headers = part && [];
  return (
    <>
      {part !== 'response' && (
        <Side
          title="Request"
          number={number}
          details={[request.body && sizeText(request.body)]}
          body={request.body}
          text={requestText(exchange, headers)}
        />
      )}
      {part !== 'request' && (
        <Side
          title="Response"
          number={number}
          badge={response && <Badge tone={response.status < 400 ? 'positive' : 'negative'}>{response.status}</Badge>}
          details={[response && sizeText(response.body), timeText(exchange)]}
          body={response?.body ?? null}
          text={responseText(exchange, headers)}
        >
          {error !== null && <Notice tone="caution">Ended early: {error}</Notice>}
        </Side>
      )}
    </>
  );
}

function OnDeviceSides({
  exchange,
  number,
  part,
}: {
  exchange: OnDeviceExchange;
  number: string;
  part: Part | undefined;
}) {
  const { model, prompt, response, error } = exchange;
  if (part === 'headers') return <p className="exchange__note small secondary">No HTTP request, so no headers.</p>;
  return (
    <>
      {part !== 'response' && (
        <Side
          title="Request"
          number={number}
          details={[model, prompt && sizeText(prompt)]}
          body={prompt}
          text={promptText(exchange)}
        >
          <p className="exchange__note small secondary">
            No HTTP request: the model runs on this device. This is the prompt in its chat template.
          </p>
        </Side>
      )}
      {part !== 'request' && (
        <Side
          title="Response"
          number={number}
          details={[sizeText(response), timeText(exchange)]}
          body={response}
          text={onDeviceResponseText(exchange)}
        >
          {error !== null && <Notice tone="caution">Ended early: {error}</Notice>}
        </Side>
      )}
    </>
  );
}

/** A part of the HTTP calls. */
type Part = 'request' | 'response' | 'headers';

interface ExchangeProps {
  exchange: ProviderExchange;
  number: string;
  part: Part | undefined;
}

function Exchange({ exchange, number, part }: ExchangeProps) {
  return (
    <div className={classNames('exchange', part && part !== 'headers' && 'exchange--single')}>
      {exchange.kind === 'http' ? (
        <HttpSides exchange={exchange} number={number} part={part} />
      ) : (
        <OnDeviceSides exchange={exchange} number={number} part={part} />
      )}
    </div>
  );
}

function NothingStored({ isRecorded }: { isRecorded: boolean }) {
  const [, navigate] = useLocation();
  const settings = useSettings().data;
  const isRedacted = isRecorded && settings !== undefined && settings.recorder.redaction.length > 0;
  const reason =
    settings?.providerExchanges.keep === 'none'
      ? 'Storing provider requests is off.'
      : isRedacted
        ? "While a redaction rule is on, raw requests of other programs' calls aren't stored."
        : isRecorded
          ? 'Only metadata was recorded, or the request was deleted to make room for newer ones.'
          : 'The run called no provider, or its request was deleted to make room for newer ones.';
  return (
    <EmptyState title="No provider request stored" reason={reason}>
      <Button size="small" onClick={() => navigate(settingsAddress(isRedacted ? 'recording' : 'data'))}>
        {isRedacted ? 'Recording settings' : 'Open data settings'}
      </Button>
    </EmptyState>
  );
}

interface ProviderExchangesProps {
  runId: string;
  /** Only this part; without it, requests with their responses. */
  part?: Part;
  /** Whether the run is a call of another program. */
  isRecorded?: boolean;
}

/** The requests of a run to the provider, and the raw responses. Credentials are not stored. */
export function ProviderExchanges({ runId, part, isRecorded = false }: ProviderExchangesProps) {
  const query = useProviderExchanges(runId);
  return (
    <div className="exchanges">
      <QueryView query={query} subject="the provider request" rows={3}>
        {({ data }) =>
          data.length === 0 ? (
            <NothingStored isRecorded={isRecorded} />
          ) : (
            data.map((exchange, index) => (
              <Exchange
                key={exchange.startedAt + String(index)}
                exchange={exchange}
                part={part}
                number={data.length === 1 ? '' : ` ${index + 1} of ${data.length}`}
              />
            ))
          )
        }
      </QueryView>
    </div>
  );
}
