import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { ContactedHost, StoredLocation } from '../../../shared/contract/privacy.ts';
import type { AiSystem } from '../../../shared/contract/common.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { StateBadge } from '../../components/badges.tsx';
import { QueryView } from '../../components/state-panels.tsx';
import { usePrivacy } from '../../queries/host-state.ts';
import { useUpdates } from '../../queries/settings.ts';
import { settingsAddress } from '../../shell/addresses.ts';
import { EncryptionBadge } from './address-confirmation.tsx';
import { SettingRow, SettingsPage, SettingsSection } from './settings-page.tsx';

/** The content of a location, and how long it is stored. */
const contents: Record<StoredLocation['kind'], [title: string, detail: string]> = {
  database: [
    'Database',
    'Runs with prompts and answers, calls of programs that use this address (as Settings, Recording says), the newest raw requests, feedback, stored prompts, agents, datasets, comparisons, judges, API keys (hashed) and settings',
  ],
  'audit-index': ['Audit index', 'Words of prompts and answers, for full-text search'],
  files: ['Files', 'Images, PDFs and other files of your prompts and of recorded calls, until no run uses them'],
  sources: ['Sources', 'The files that you added to dataspaces, and uploads in progress'],
  'incoming-datasets': ['Imported datasets', 'Files of datasets while they are read'],
  'incoming-logs': ['Imported logs', 'Logs of other programs until their calls are in the audit'],
  'knowledge-index': ['Knowledge index', 'Passages of your sources, their words and embeddings'],
  models: ['On-device models', 'Downloaded models. A model that you add by its path stays where it is'],
  'evidence-packs': ['Evidence packs', 'Exports of the audit, until you delete them'],
  backups: ['Backups', 'Copies of the database and its files, until you delete them'],
  certificate: ['Certificate', 'Certificate and private key of the local server, created when TLS is turned on'],
  window: ['Window', 'Drafts, layout and the sign-in of this window'],
  'linked-folder': ['Linked folder', 'Prompts that are read from and saved to files'],
  temporary: ['Temporary files', 'Used by the database and the window while Touchstone runs'],
};

function Location({ location: { kind, path } }: { location: StoredLocation }) {
  const [title, detail] = contents[kind];
  return (
    <SettingRow
      label={title}
      detail={
        <>
          {detail}
          <br />
          {path === null ? "In this browser's profile" : <span className="mono--small breakable">{path}</span>}
        </>
      }
    />
  );
}

/** When a host is contacted, and with which data. */
const reasons: Record<ContactedHost['use'], string> = {
  provider:
    'Gets prompts, passages and texts to classify or embed when you use its models, and calls of programs that you connect in the Recorder. Its model list is read when the window opens.',
  endpoint:
    'Gets prompts, passages and texts to classify or embed when you use its models, and calls of programs that you connect in the Recorder. Its model list is read when the window opens.',
  'local-servers': 'Asked for their models when you choose a model or set up endpoints. They run on this device.',
  'npm-registry':
    'Gets none of your data. Contacted when you download an on-device model from it, and by a start with --fetch-model or without a display.',
  'hugging-face':
    'Gets none of your data, only your Hugging Face token if HF_TOKEN or its command line sets one. Contacted when you download a model with an hf: address.',
  proxy: 'Carries all calls to other hosts, as your system or environment says.',
  'team-database':
    'Gets the runs of this device with their prompts and answers, and the feedback on them, as Settings, Team database says.',
  'trace-collector':
    'Gets a span for each run: model, tokens, cost, times and errors, and prompts and answers only if you say so in Settings, Data.',
};

const titles: Record<Exclude<ContactedHost['use'], 'provider' | 'endpoint'>, string> = {
  'local-servers': 'Local model servers',
  'npm-registry': 'npm registry',
  'hugging-face': 'Hugging Face',
  proxy: 'Proxy',
  'trace-collector': 'Trace collector',
  'team-database': 'Team database',
};

function hostTitle({ use, name }: ContactedHost): string {
  if (use === 'provider') return providerName(name as AiSystem);
  return use === 'endpoint' ? `Endpoint ${name}` : titles[use];
}

const readyWords: Record<ContactedHost['use'], string> = {
  provider: 'Key set',
  endpoint: 'In use',
  'local-servers': 'On this device',
  'npm-registry': 'On request',
  'hugging-face': 'On request',
  proxy: 'In use',
  'trace-collector': 'In use',
  'team-database': 'In use',
};

function HostState({ host: { use, isReady, isConfirmed } }: { host: ContactedHost }) {
  if (!isConfirmed)
    return (
      <StateBadge tone="caution" icon={TriangleAlert}>
        Not confirmed
      </StateBadge>
    );
  if (!isReady) return <StateBadge tone="neutral">No key, not contacted</StateBadge>;
  const word = readyWords[use];
  return <StateBadge tone={word === 'On request' ? 'neutral' : 'positive'}>{word}</StateBadge>;
}

function Host({ host }: { host: ContactedHost }) {
  const { use, addresses } = host;
  return (
    <SettingRow
      label={hostTitle(host)}
      detail={
        <>
          {addresses.length === 0 ? (
            'The registry that npm uses on this device.'
          ) : (
            <span className="mono--small breakable">{addresses.join(', ')}</span>
          )}{' '}
          {addresses.map((address) => (
            <EncryptionBadge key={address} address={use === 'proxy' ? '' : address} />
          ))}
          <br />
          {reasons[use]}
        </>
      }
    >
      <HostState host={host} />
    </SettingRow>
  );
}

/** Only a build with an update address has it. */
function UpdateServer() {
  const { data: updates } = useUpdates();
  if (!updates || updates.host === null) return null;
  const isOn = updates.status !== 'off';
  return (
    <SettingRow
      label="Update server"
      detail={
        <>
          <span className="mono--small breakable">{updates.host}</span>
          <br />
          Gets none of your data. Contacted at each start and once a day while{' '}
          <PageLink page="updates">Check for updates</PageLink> is on.
        </>
      }
    >
      <StateBadge tone={isOn ? 'positive' : 'neutral'}>{isOn ? 'On' : 'Off, not contacted'}</StateBadge>
    </SettingRow>
  );
}

function PageLink({ page, children }: { page: 'data' | 'providers' | 'updates'; children: ReactNode }) {
  return (
    <Link href={settingsAddress(page)} className="link">
      {children}
    </Link>
  );
}

function StoredData({ locations, keychain }: { locations: readonly StoredLocation[]; keychain: string | null }) {
  return (
    <>
      {locations.map((location) => (
        <Location key={`${location.kind} ${location.path}`} location={location} />
      ))}
      <SettingRow
        label="Provider keys"
        detail={
          <>
            Keys and the addresses that you confirmed
            <br />
            {keychain ?? 'In memory, until Touchstone quits'}
          </>
        }
      />
      <SettingRow
        label="Log messages"
        detail={
          <>
            Errors and warnings, with known keys removed
            <br />
            In the terminal that started Touchstone, in no file
          </>
        }
      />
      <SettingRow
        label="Files that you save"
        detail="Exported prompts, evidence packs and results go to the location that you choose"
      />
    </>
  );
}

/** Every location where data is stored and every host that is contacted, with their present state. */
export function PrivacyPage() {
  const privacy = usePrivacy();
  return (
    <SettingsPage
      title="Privacy"
      lead="What Touchstone stores and which hosts it contacts. It sends no usage data and no crash reports, and has no account."
    >
      <SettingsSection title="Stored data">
        <div className="card">
          <QueryView query={privacy} subject="the stored data" rows={6}>
            {(stored) => <StoredData {...stored} />}
          </QueryView>
        </div>
        <p className="caption tertiary settings__below">
          Only your account can read the data folder. To limit how long runs are kept, see{' '}
          <PageLink page="data">Data and backup</PageLink>. Datasets, comparisons and judges stay until a program
          deletes them over the API. Removing a run also removes what comparisons quote of it, not the rows of a
          dataset.
        </p>
      </SettingsSection>
      <SettingsSection title="Contacted hosts">
        <div className="card">
          <QueryView query={privacy} subject="the contacted hosts" rows={6}>
            {({ hosts }) => hosts.map((host) => <Host key={`${host.use} ${host.name}`} host={host} />)}
          </QueryView>
          <UpdateServer />
        </div>
        <p className="caption tertiary settings__below">
          Host names are looked up by your system. Links open in your browser. To add or remove a provider or an
          endpoint, see <PageLink page="providers">Providers and keys</PageLink>.
        </p>
      </SettingsSection>
    </SettingsPage>
  );
}
