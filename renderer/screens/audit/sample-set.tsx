import { FlaskConical } from 'lucide-react';
import { Button } from '../../components/button.tsx';
import { formatPlural } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import type { MenuItem } from '../../components/menu.tsx';
import { useAuditSamples, useChangeAuditSamples } from '../../queries/audit.ts';

/** Loads the sample data with one click. */
export function SampleSetButton() {
  const samples = useAuditSamples();
  const { mutate, isPending } = useChangeAuditSamples();
  if (!samples.data || samples.data.isLoaded) return null;
  return (
    <Button icon={FlaskConical} isBusy={isPending} onClick={() => mutate('load')}>
      Load sample data
    </Button>
  );
}

/** The audit menu's item for the sample data. */
export function useSampleMenu(): MenuItem[] {
  const { data } = useAuditSamples();
  const { mutate, isPending } = useChangeAuditSamples();
  if (!data) return [];
  const change = data.isLoaded ? 'remove' : 'load';
  const label = data.isLoaded ? 'Remove sample data' : 'Load sample data';
  return [{ label, icon: FlaskConical, isDisabled: isPending, onSelect: () => mutate(change) }];
}

/** Shows that the audit contains fictional conversations, with a button to remove them. */
export function SamplesNotice() {
  const { data } = useAuditSamples();
  const { mutate, isPending } = useChangeAuditSamples();
  if (!data?.isLoaded) return null;
  return (
    <div className="audit__samples small" role="note" aria-label="Sample data">
      <Icon icon={FlaskConical} size="small" />
      <span>Sample data is loaded ({formatPlural(data.conversations, 'fictional conversation')})</span>
      <Button size="small" variant="quiet" isBusy={isPending} onClick={() => mutate('remove')}>
        Remove sample data
      </Button>
    </div>
  );
}
