import { Trash2, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { CompatibleEndpoint } from '../../../../shared/contract/providers.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { formatDuration, formatPlural } from '../../../components/format.ts';
import { IconButton } from '../../../components/icon-button.tsx';
import { StateMark } from '../../../components/marks.tsx';
import { useReturnFocus } from '../../../components/use-return-focus.ts';
import { useConfirmEndpointAddress, useRemoveEndpoint, useTestEndpoint } from '../../../queries/endpoints.ts';
import { AddressQuestion, EncryptionBadge } from '../providers/address-confirmation.tsx';
import { TestNotice } from '../providers/test-notice.tsx';
import { testState } from '../providers/test-state.ts';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointPrices } from './endpoint-prices.tsx';

function found({ lastTest }: CompatibleEndpoint): string {
  if (!lastTest) return '';
  if (lastTest.outcome === 'ok') return `, ${formatPlural(lastTest.models, 'model')}`;
  return lastTest.status === null
    ? `, no response in ${formatDuration(lastTest.milliseconds)}`
    : `, HTTP ${lastTest.status}`;
}

function EndpointState({ endpoint: { confirmation, lastTest } }: { endpoint: CompatibleEndpoint }) {
  if (confirmation)
    return (
      <StateMark tone="caution" icon={TriangleAlert}>
        Not confirmed
      </StateMark>
    );
  if (!lastTest) return <StateMark tone="neutral">Not tested</StateMark>;
  const { word, ...mark } = testState(lastTest, 'Reachable');
  return <StateMark {...mark}>{word}</StateMark>;
}

/** One compatible endpoint with its address, its last test and what can be done about it. */
export function EndpointRow({ endpoint }: { endpoint: CompatibleEndpoint }) {
  const { name, baseAddress, lastTest, confirmation } = endpoint;
  const [openForm, setOpenForm] = useState<'endpoint' | 'prices' | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const editButton = useReturnFocus<HTMLButtonElement>(openForm === 'endpoint' || confirmation !== null);
  const pricesButton = useReturnFocus<HTMLButtonElement>(openForm === 'prices');
  const toggle = (form: 'endpoint' | 'prices') => setOpenForm(openForm === form ? null : form);
  const close = () => setOpenForm(null);
  const test = useTestEndpoint();
  const confirm = useConfirmEndpointAddress(name);
  const remove = useRemoveEndpoint();
  return (
    <div className="provider" role="group" aria-label={name}>
      <div className="provider__row">
        <span className="strong truncate">{name}</span>
        <span className="provider__state">
          <EndpointState endpoint={endpoint} />
        </span>
        <span className="provider__detail truncate" title={baseAddress}>
          <EncryptionBadge address={baseAddress} /> <span className="mono--small">{baseAddress}</span>
          <span className="tertiary">{found(endpoint)}</span>
        </span>
        <span className="provider__actions">
          {confirmation === null && (
            <Button size="small" isBusy={test.isPending} onClick={() => test.mutate(name)}>
              Test
            </Button>
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
      {openForm === null && confirmation && <AddressQuestion asked={confirmation} confirm={confirm} />}
      {openForm === null && <TestNotice test={lastTest} baseAddress={baseAddress} />}
      <ConfirmDialog
        title={`Remove endpoint ${name}?`}
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        action="Remove endpoint"
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate(name, { onSettled: () => setRemoving(false) })}
      >
        This also removes its key, its models and their prices. Its runs are kept.
      </ConfirmDialog>
    </div>
  );
}
