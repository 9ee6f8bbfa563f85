import { useState } from 'react';
import { useLocation } from 'wouter';
import type { BlindVoteItem } from '../../../../shared/contract/blind-votes.ts';
import type { Judge, JudgeLabel } from '../../../../shared/contract/judges.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { formatPlural, formatTime } from '../../../components/format.ts';
import { Select } from '../../../components/select.tsx';
import { describeError, Notice, QueryView } from '../../../components/state-panels.tsx';
import { useBlindVotes } from '../../../queries/blind-votes.ts';
import { useComparisons } from '../../../queries/comparisons.ts';
import { useDeleteLabels, useLabelFromVotes } from '../../../queries/judges.ts';
import { comparisonVoteAddress } from '../../../shell/addresses.ts';

function FinishedVotes({ votes, judge }: { votes: readonly BlindVoteItem[]; judge: Judge }) {
  const adding = useLabelFromVotes(judge.id);
  if (votes.length === 0) return <p className="small tertiary">No finished blind votes on this comparison yet.</p>;
  return (
    <>
      {votes.map(({ id, variants, question, voter, counts, finishedAt }) => (
        <div key={id} className="row">
          <span className="grow truncate">
            {question}{' '}
            <span className="small tertiary">
              {variants.join(' and ')}, {voter ?? 'another person'}, {formatPlural(counts.decided, 'decided pair')},{' '}
              {formatTime(finishedAt!)}
            </span>
          </span>
          <Button size="small" isBusy={adding.isPending && adding.variables === id} onClick={() => adding.mutate(id)}>
            Use as labels
          </Button>
        </div>
      ))}
      {adding.error && <Notice tone="negative">{describeError(adding.error).message}</Notice>}
      {adding.data && (
        <p className="small secondary" role="status">
          {formatPlural(adding.data.added, 'label')} added
          {adding.data.skipped > 0 && `, ${formatPlural(adding.data.skipped, 'pair')} left out`}
        </p>
      )}
    </>
  );
}

function VotesOf({ comparisonId, judge }: { comparisonId: string; judge: Judge }) {
  const [, navigate] = useLocation();
  const votes = useBlindVotes(comparisonId);
  return (
    <>
      <QueryView query={votes} subject="the votes">
        {(all) => <FinishedVotes votes={all.filter(({ finishedAt }) => finishedAt !== null)} judge={judge} />}
      </QueryView>
      <div className="row">
        <Button onClick={() => navigate(comparisonVoteAddress(comparisonId))}>Start a blind vote</Button>
        <span className="caption tertiary">Ask what the judge is asked. The judge's verdicts are hidden.</span>
      </div>
    </>
  );
}

function RemoveLabels({ judge, count }: { judge: Judge; count: number }) {
  const [isOpen, setOpen] = useState(false);
  const remove = useDeleteLabels(judge.id);
  if (count === 0) return null;
  return (
    <div className="row">
      <Button variant="quiet" onClick={() => setOpen(true)}>
        Remove all labels
      </Button>
      <ConfirmDialog
        title={`Remove ${formatPlural(count, 'label')}?`}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        action="Remove labels"
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate(undefined, { onSettled: () => setOpen(false) })}
      >
        <p>The judge is no longer calibrated then. Votes and verdicts stay.</p>
      </ConfirmDialog>
    </div>
  );
}

/** Labels of pairs by hand: the votes of people who didn't see the variants. */
export function PairLabels({ judge, labels }: { judge: Judge; labels: readonly JudgeLabel[] }) {
  const comparisons = useComparisons();
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <section className="judges__part" aria-label="Label pairs">
      <QueryView query={comparisons} subject="the comparisons">
        {(all) => {
          const pairs = all.filter(({ rowCount, cells, repeats }) => cells.total > rowCount * repeats);
          const comparisonId = chosen ?? pairs[0]?.id ?? null;
          if (comparisonId === null)
            return <p className="small secondary">Run a comparison of two variants first: its answers are labelled.</p>;
          return (
            <>
              <Select
                label="Pairs of"
                isLabelHidden={false}
                value={comparisonId}
                onValueChange={setChosen}
                options={pairs.map(({ id, name }) => ({ value: id, label: name }))}
              />
              <VotesOf key={comparisonId} comparisonId={comparisonId} judge={judge} />
            </>
          );
        }}
      </QueryView>
      <RemoveLabels judge={judge} count={labels.length} />
    </section>
  );
}
