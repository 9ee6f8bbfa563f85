import { EmptyState } from '../../../components/state-panels.tsx';

/** The judges, with one open; null is none. */
export function JudgesView({ judgeId }: { judgeId: string | null }) {
  return (
    <div className="list-state">
      <EmptyState
        title={judgeId === null ? 'Create judges over HTTP' : 'Change this judge over HTTP'}
        reason="POST /judges takes a prompt, a model and the form of the verdict."
      />
    </div>
  );
}
