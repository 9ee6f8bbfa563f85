import './exchanges.css';
import { useLocation } from 'wouter';
import type { ReactNode } from 'react';
import type {
  ExchangeText,
  HttpExchange,
  OnDeviceExchange,
  ProviderExchange,
} from '../../../shared/contract/provider-exchanges.ts';
import { useProviderExchanges } from '../../queries/provider-exchanges.ts';
import { useSettings } from '../../queries/settings.ts';
import { settingsAddress } from '../../shell/addresses.ts';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy-button.tsx';
import { Badge } from '../marks.tsx';
import { QueryView } from '../query-view.tsx';
import { EmptyState, Notice } from '../state-panels.tsx';
import {
  cutText,
  onDeviceResponseText,
  promptText,
  requestText,
  responseText,
  sizeText,
  timeText,
} from './exchange-words.ts';
import { LongText } from './long-text.tsx';

interface SideProps {
  title: string;
  /** Tells the calls of one run apart. */
  number: string;
  badge?: ReactNode;
  details: readonly (string | null)[];
  /** What Copy copies: the body as it was sent or received. */
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

function HttpSides({ exchange, number }: { exchange: HttpExchange; number: string }) {
  const { request, response, error } = exchange;
  return (
    <>
      <Side
        title="Request"
        number={number}
        details={[request.body && sizeText(request.body)]}
        body={request.body}
        text={requestText(exchange)}
      />
      <Side
        title="Response"
        number={number}
        badge={response && <Badge tone={response.status < 400 ? 'positive' : 'negative'}>{response.status}</Badge>}
        details={[response && sizeText(response.body), timeText(exchange)]}
        body={response?.body ?? null}
        text={responseText(exchange)}
      >
        {error !== null && <Notice tone="caution">Ended early: {error}</Notice>}
      </Side>
    </>
  );
}

function OnDeviceSides({ exchange, number }: { exchange: OnDeviceExchange; number: string }) {
  const { model, prompt, response, error } = exchange;
  return (
    <>
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
      <Side
        title="Response"
        number={number}
        details={[sizeText(response), timeText(exchange)]}
        body={response}
        text={onDeviceResponseText(exchange)}
      >
        {error !== null && <Notice tone="caution">Ended early: {error}</Notice>}
      </Side>
    </>
  );
}

function Exchange({ exchange, number }: { exchange: ProviderExchange; number: string }) {
  return (
    <div className="exchange">
      {exchange.kind === 'http' ? (
        <HttpSides exchange={exchange} number={number} />
      ) : (
        <OnDeviceSides exchange={exchange} number={number} />
      )}
    </div>
  );
}

function NothingStored() {
  const [, navigate] = useLocation();
  const keep = useSettings().data?.providerExchanges.keep;
  const reason =
    keep === 'none'
      ? 'Storing provider requests is off.'
      : 'The run called no provider, or its request was deleted to make room for newer ones.';
  return (
    <EmptyState title="No provider request stored" reason={reason}>
      <Button size="small" onClick={() => navigate(settingsAddress('data'))}>
        Open data settings
      </Button>
    </EmptyState>
  );
}

/** What was sent to the provider for a run, and its raw response. Credentials are not stored. */
export function ProviderExchanges({ runId }: { runId: string }) {
  const query = useProviderExchanges(runId);
  return (
    <div className="exchanges">
      <QueryView query={query} subject="the provider request" rows={3}>
        {({ data }) =>
          data.length === 0 ? (
            <NothingStored />
          ) : (
            data.map((exchange, index) => (
              <Exchange
                key={exchange.startedAt + String(index)}
                exchange={exchange}
                number={data.length === 1 ? '' : ` ${index + 1} of ${data.length}`}
              />
            ))
          )
        }
      </QueryView>
    </div>
  );
}
