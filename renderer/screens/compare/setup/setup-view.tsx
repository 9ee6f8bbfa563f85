import { useShowPageTitle } from '../../../stores/window.ts';
import { EmptyState } from '../../../components/state-panels.tsx';

/** The variants, rows and checks of a comparison that has not started; null is a new one. */
export function SetupView({ comparisonId }: { comparisonId: string | null }) {
  useShowPageTitle('New comparison');
  return (
    <div className="list-state">
      <EmptyState
        title={comparisonId === null ? 'Create comparisons over HTTP' : 'Change this comparison over HTTP'}
        reason="POST /comparisons takes variants, a dataset and checks."
      />
    </div>
  );
}
