import { EmptyState } from '../../../components/state-panels.tsx';
import { Button } from '../../../components/button.tsx';
import { useLocation } from 'wouter';
import { comparisonAddress } from '../../../shell/addresses.ts';

/** Blind votes over the answers of a comparison. */
export function VoteView({ comparisonId }: { comparisonId: string }) {
  const [, navigate] = useLocation();
  return (
    <div className="list-state">
      <EmptyState title="No answers to vote on">
        <Button onClick={() => navigate(comparisonAddress(comparisonId))}>Back to the results</Button>
      </EmptyState>
    </div>
  );
}
