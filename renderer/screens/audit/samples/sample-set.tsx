import { FlaskConical } from 'lucide-react';
import { Button } from '../../../components/button.tsx';
import { formatPlural } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { useAuditSamples, useChangeAuditSamples } from '../../../queries/audit-samples.ts';

/** Loads the sample set by one press. */
export function SampleSetButton() {
  const samples = useAuditSamples();
  const { mutate, isPending } = useChangeAuditSamples();
  if (!samples.data || samples.data.isLoaded) return null;
  return (
    <Button icon={FlaskConical} isBusy={isPending} onClick={() => mutate('load')}>
      Load the sample set
    </Button>
  );
}

/** Says that made-up conversations are among the real ones, with the way to be rid of them. */
export function SamplesNotice() {
  const { data } = useAuditSamples();
  const { mutate, isPending } = useChangeAuditSamples();
  if (!data?.isLoaded) return null;
  return (
    <div className="audit__samples small" role="note" aria-label="Sample set">
      <Icon icon={FlaskConical} size="small" />
      <span>
        The sample set is loaded: {formatPlural(data.conversations, 'made-up conversation')}, marked as samples, are
        among the others.
      </span>
      <Button size="small" variant="quiet" isBusy={isPending} onClick={() => mutate('remove')}>
        Remove the sample set
      </Button>
    </div>
  );
}
