import { useState } from 'react';
import { Link } from 'wouter';
import { Spinner, StateBadge } from '../../components/badges.tsx';
import { Button, CopyButton } from '../../components/button.tsx';
import { Segmented } from '../../components/choices.tsx';
import { useCapability } from '../../host/host-context.tsx';
import { Notice } from '../../components/state-panels.tsx';
import { useHostState } from '../../queries/host-state.ts';
import { useRecorderState } from '../../queries/recorded-calls.ts';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';
import { settingsAddress } from '../../shell/addresses.ts';
import { RecordingRules } from './recording-rules.tsx';
import { clientExamples, type Shell, shells } from './client-examples.ts';
import { programName } from './program-name.ts';

/** The listener is off until a person turns it on. */
function ServerOff() {
  const settings = useSettings().data;
  const update = useUpdateSettings();
  const canSwitch = useCapability('local-server-switch');
  const failure = useHostState().data?.serverFailure ?? null;
  return (
    <div className="recorder__block">
      <StateBadge tone={failure === null ? 'neutral' : 'negative'}>
        {failure === null ? 'Local server off' : "Couldn't start the local server"}
      </StateBadge>
      <p className="small secondary">{failure ?? 'Programs reach Touchstone through its local server.'}</p>
      {canSwitch && settings && (
        <Button
          variant="primary"
          isBusy={update.isPending}
          onClick={() => update.mutate({ localServer: { ...settings.localServer, isEnabled: true } })}
        >
          Enable local server
        </Button>
      )}
      <Link href={settingsAddress('local-server')} className="link small">
        Local server settings
      </Link>
    </div>
  );
}

function Examples({ address }: { address: string }) {
  const [shell, setShell] = useState<Shell>('bash');
  return (
    <>
      <div className="header line-top">
        <h2>Copy for</h2>
        <span className="grow" />
        <Segmented
          label="Shell"
          value={shell}
          onValueChange={setShell}
          options={shells.map((value) => ({ value, label: value }))}
        />
      </div>
      <ul className="copy-rows">
        {clientExamples(address, shell).map(({ name, summary, text }) => (
          <li key={name} className="copy-row">
            <span className="grow truncate">
              <span className="medium">{name}</span>
              <code className="mono--small truncate" title={text}>
                {summary}
              </code>
            </span>
            <CopyButton text={text} label={`Copy for ${name}`} isIconOnly size="small" />
          </li>
        ))}
      </ul>
      <p className="recorder__block small secondary">
        <span>
          Set TOUCHSTONE_KEY to a key with the scope run from{' '}
          <Link href={settingsAddress('api-keys')} className="link">
            API keys
          </Link>
          . Touchstone then uses the provider key from its keychain. A program with a provider key of its own sends that
          as usual, and TOUCHSTONE_KEY in the header <code className="mono--small">x-touchstone-key</code>.
        </span>
      </p>
    </>
  );
}

/** Resolves the question "does it work?": a spinner until a call arrives after the screen was opened. */
function FirstCall({ program }: { program: string | null | undefined }) {
  if (program === undefined)
    return (
      <p className="row small accent" role="status">
        <Spinner />
        Waiting for a call
      </p>
    );
  return (
    <p role="status">
      <StateBadge tone="positive">
        Received a call from {program === null ? 'a program' : programName(program)}
      </StateBadge>
    </p>
  );
}

/** A rejected call older than this, in milliseconds, is no longer news. */
const maxRejectionAge = 600_000;

/** Why a program gets an error before its call is recorded, such as an unknown key; null after the next recorded call. */
function useRejection(newestAt: string | null) {
  const { data, dataUpdatedAt } = useRecorderState();
  const rejection = data?.lastRejection;
  if (!rejection || dataUpdatedAt - Date.parse(rejection.at) > maxRejectionAge) return null;
  return newestAt !== null && Date.parse(newestAt) > Date.parse(rejection.at) ? null : rejection;
}

function Rejection({ newestAt }: Pick<ConnectPanelProps, 'newestAt'>) {
  const rejection = useRejection(newestAt);
  if (rejection === null) return null;
  const isKey = rejection.source === 'program' && (rejection.status === 401 || rejection.status === 403);
  return (
    <Notice tone="negative">
      <p className="small">
        A call arrived and was rejected ({rejection.status}). {rejection.message}
      </p>
      {isKey && (
        <Link href={settingsAddress('api-keys')} className="link small">
          API keys
        </Link>
      )}
    </Notice>
  );
}

interface ConnectPanelProps {
  /** The program of the newest call since the screen opened; undefined before the first one. */
  program: string | null | undefined;
  /** When the newest call arrived; null without one. */
  newestAt: string | null;
}

/** How to point a program at this service, with a test. */
export function ConnectPanel({ program, newestAt }: ConnectPanelProps) {
  const host = useHostState().data;
  const address = host?.serverAddress ?? null;
  return (
    <section className="panel panel--inset line-right recorder__connect" aria-label="Connect a program">
      <div className="header">
        <h2>Connect a program</h2>
      </div>
      <div className="scroll grow" tabIndex={0}>
        {address === null ? (
          host && <ServerOff />
        ) : (
          <>
            <div className="recorder__block">
              <p className="small secondary">
                Point a program at one of these addresses. Its calls go to the provider unchanged and are recorded here.
              </p>
              <span className="recorder__address mono--small">
                <span className="grow truncate">{address}</span>
                <CopyButton text={address} label="Copy address" isIconOnly size="small" />
              </span>
              <p className="caption tertiary">
                Only programs on this computer reach it.{' '}
                <Link href={settingsAddress('local-server')} className="link">
                  Local server settings
                </Link>
              </p>
              <FirstCall program={program} />
              <Rejection newestAt={newestAt} />
            </div>
            <Examples address={address} />
            <RecordingRules />
          </>
        )}
      </div>
    </section>
  );
}
