import { Plus, Trash2, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { CompatibleEndpoint } from '../../../shared/contract/providers.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { formatDuration, formatPlural } from '../../components/format.ts';
import { StateBadge } from '../../components/badges.tsx';
import { useReturnFocus } from '../../components/focus.ts';
import {
  useAddEndpoint,
  useConfirmEndpointAddress,
  useEndpoints,
  useRemoveEndpoint,
  useTestEndpoint,
} from '../../queries/providers.ts';
import { AddressRequest, EncryptionBadge } from './address-confirmation.tsx';
import { CapabilityTest } from './capability-test.tsx';
import { KeyNotice, TestButtons, TestNotice, testState } from './connection-test.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointPrices } from './endpoint-prices.tsx';
import { QueryView } from '../../components/state-panels.tsx';
import { SettingsPage, SettingsSection } from './settings-page.tsx';

function testResult({ lastTest }: CompatibleEndpoint): string {
  if (!lastTest) return '';
  if (lastTest.outcome === 'ok') return `, ${formatPlural(lastTest.models, 'model')}`;
  return lastTest.status === null
    ? `, no response in ${formatDuration(lastTest.milliseconds)}`
    : `, HTTP ${lastTest.status}`;
}

function EndpointState({ endpoint: { confirmation, keyFailure, lastTest } }: { endpoint: CompatibleEndpoint }) {
  if (confirmation)
    return (
      <StateBadge tone="caution" icon={TriangleAlert}>
        Not confirmed
      </StateBadge>
    );
  if (keyFailure !== null)
    return (
      <StateBadge tone="caution" icon={TriangleAlert}>
        Key unreadable
      </StateBadge>
    );
  if (!lastTest) return <StateBadge tone="neutral">Not tested</StateBadge>;
  const { word, ...mark } = testState(lastTest, 'Reachable');
  return <StateBadge {...mark}>{word}</StateBadge>;
}

function RemoveDialog({ endpoint, isOpen, onClose }: { endpoint: string; isOpen: boolean; onClose: () => void }) {
  const remove = useRemoveEndpoint();
  return (
    <ConfirmDialog
      title={`Remove endpoint ${endpoint}?`}
      isOpen={isOpen}
      onClose={onClose}
      action="Remove endpoint"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate(endpoint, { onSettled: onClose })}
    >
      This also removes its key, its models and their prices. Its runs are kept.
    </ConfirmDialog>
  );
}

/** A compatible endpoint: its address, its last test and its actions. */
function EndpointRow({ endpoint }: { endpoint: CompatibleEndpoint }) {
  const { name, baseAddress, lastTest, confirmation, keyFailure } = endpoint;
  const [openForm, setOpenForm] = useState<'endpoint' | 'prices' | 'capabilities' | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const editButton = useReturnFocus<HTMLButtonElement>(openForm === 'endpoint' || confirmation !== null);
  const pricesButton = useReturnFocus<HTMLButtonElement>(openForm === 'prices');
  const toggle = (form: 'endpoint' | 'prices' | 'capabilities') => setOpenForm(openForm === form ? null : form);
  const close = () => setOpenForm(null);
  const test = useTestEndpoint();
  const confirm = useConfirmEndpointAddress(name);
  return (
    <div className="provider" role="group" aria-label={name}>
      <div className="provider__row">
        <span className="strong truncate">{name}</span>
        <span className="provider__state">
          <EndpointState endpoint={endpoint} />
        </span>
        <span className="provider__detail truncate" title={baseAddress}>
          <EncryptionBadge address={baseAddress} /> <span className="mono--small">{baseAddress}</span>
          <span className="tertiary">{testResult(endpoint)}</span>
        </span>
        <span className="provider__actions">
          {confirmation === null && (
            <TestButtons
              name={name}
              isTesting={test.isPending}
              onTest={() => test.mutate(name)}
              isCapabilityTestOpen={openForm === 'capabilities'}
              onCapabilities={() => toggle('capabilities')}
            />
          )}
          <Button
            ref={pricesButton}
            size="small"
            aria-label={`Prices of ${name}`}
            aria-expanded={openForm === 'prices'}
            onClick={() => toggle('prices')}
          >
            Prices
          </Button>
          <Button
            ref={editButton}
            size="small"
            aria-expanded={openForm === 'endpoint'}
            onClick={() => toggle('endpoint')}
          >
            Edit
          </Button>
          <IconButton size="small" icon={Trash2} label={`Remove ${name}`} onClick={() => setRemoving(true)} />
        </span>
      </div>
      {openForm === 'endpoint' && <EndpointForm endpoint={endpoint} onDone={close} />}
      {openForm === 'prices' && <EndpointPrices endpoint={name} onDone={close} />}
      {openForm === 'capabilities' && <CapabilityTest owner={{ aiSystem: 'OpenAiCompatible', name, endpoint: name }} />}
      {openForm === null && confirmation && <AddressRequest confirmation={confirmation} confirm={confirm} />}
      {openForm === null && keyFailure !== null && <KeyNotice failure={keyFailure} />}
      {openForm === null && keyFailure === null && <TestNotice test={lastTest} baseAddress={baseAddress} />}
      <RemoveDialog endpoint={name} isOpen={isRemoving} onClose={() => setRemoving(false)} />
    </div>
  );
}

interface DetectedEndpoint {
  name: string;
  baseAddress: string;
  models: number;
}

function DetectedRow({ endpoint }: { endpoint: DetectedEndpoint }) {
  const add = useAddEndpoint();
  return (
    <div className="provider" role="group" aria-label={`${endpoint.name}, found`}>
      <div className="provider__row">
        <span className="strong truncate">{endpoint.name}</span>
        <span className="provider__state">
          <StateBadge tone="accent">Detected</StateBadge>
        </span>
        <span className="provider__detail truncate">
          <span className="mono--small">{endpoint.baseAddress}</span>
          <span className="tertiary">, {formatPlural(endpoint.models, 'model')}, on this machine</span>
        </span>
        <span className="provider__actions">
          <Button
            size="small"
            isBusy={add.isPending}
            onClick={() => add.mutate({ name: endpoint.name, baseAddress: endpoint.baseAddress })}
          >
            Add
          </Button>
        </span>
      </div>
    </div>
  );
}

/** The endpoints that were added, those found on this machine, and the form for another one. */
export function EndpointsSection({ title = 'Compatible endpoints' }: { title?: string }) {
  const endpoints = useEndpoints();
  const [isAdding, setAdding] = useState(false);
  const returnTarget = useReturnFocus<HTMLButtonElement>(isAdding);
  const addButton = (
    <Button ref={returnTarget} size="small" icon={Plus} aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
      Add endpoint
    </Button>
  );
  return (
    <SettingsSection title={title} actions={addButton}>
      <div className="card">
        {isAdding && (
          <div className="provider-form-frame">
            <EndpointForm endpoint={null} onDone={() => setAdding(false)} />
          </div>
        )}
        <QueryView query={endpoints} subject="the endpoints" rows={2}>
          {({ data, found }) => (
            <>
              {data.map((endpoint) => (
                <EndpointRow key={endpoint.name} endpoint={endpoint} />
              ))}
              {found.map((entry) => (
                <DetectedRow key={entry.baseAddress} endpoint={entry} />
              ))}
              {data.length === 0 && found.length === 0 && !isAdding && (
                <p className="setting-panel small secondary">
                  No endpoints. Add Ollama, LM Studio, vLLM, llama.cpp, a company gateway or any OpenAI-compatible
                  server. Local servers are detected automatically.
                </p>
              )}
            </>
          )}
        </QueryView>
      </div>
    </SettingsSection>
  );
}

export function EndpointsPage() {
  return (
    <SettingsPage
      title="Compatible endpoints"
      lead={
        <>
          OpenAI-compatible servers on this machine or behind a gateway. In API calls, use the aiSystem{' '}
          <span className="mono--small">OpenAiCompatible</span> and the model{' '}
          <span className="mono--small">endpoint/model</span>.
        </>
      }
    >
      <EndpointsSection title="Endpoints" />
    </SettingsPage>
  );
}
