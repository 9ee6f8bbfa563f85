import { ArrowLeft, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { BlindVoteItem } from '../../../../shared/contract/blind-votes.ts';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import { Button } from '../../../components/button.tsx';
import { formatPlural, formatTime } from '../../../components/format.ts';
import { Select } from '../../../components/select.tsx';
import { describeError, EmptyState, Notice, QueryView } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useBlindVote, useBlindVotes, useCreateBlindVote, useDeleteBlindVote } from '../../../queries/blind-votes.ts';
import { useComparison } from '../../../queries/comparisons.ts';
import { comparisonAddress } from '../../../shell/addresses.ts';
import { useShowPageTitle } from '../../../stores/window.ts';
import { VoteQueue } from './vote-queue.tsx';
import { VoteResult } from './vote-result.tsx';
import './vote.css';

interface StartProps {
  comparison: Comparison;
  earlier: readonly BlindVoteItem[];
  onOpen: (voteId: string) => void;
}

function EarlierVotes({ earlier, onOpen, comparison }: StartProps) {
  const remove = useDeleteBlindVote(comparison.id);
  if (earlier.length === 0) return null;
  return (
    <section aria-label="Earlier votes">
      <h3 className="section-title">Earlier votes</h3>
      {earlier.map((vote) => (
        <div key={vote.id} className="row">
          <span className="grow truncate">
            {vote.variants.join(' and ')}{' '}
            <span className="small tertiary">
              {vote.voter ?? 'Another person'}, {formatPlural(vote.counts.voted, 'pair')} of {vote.counts.pairs},{' '}
              {vote.finishedAt === null ? 'not finished' : formatTime(vote.finishedAt)}
            </span>
          </span>
          {(vote.finishedAt !== null || vote.isOwn) && (
            <Button size="small" onClick={() => onOpen(vote.id)}>
              {vote.finishedAt === null ? 'Continue' : 'Show result'}
            </Button>
          )}
          <Button size="small" variant="quiet" icon={Trash2} onClick={() => remove.mutate(vote.id)}>
            Delete
          </Button>
        </div>
      ))}
    </section>
  );
}

/** Chooses the pair of variants, of at least two. */
function StartForm({ comparison, onOpen }: Omit<StartProps, 'earlier'>) {
  const names = comparison.variants.map(({ name }) => name);
  const create = useCreateBlindVote(comparison.id);
  const [first, setFirst] = useState(comparison.baseline);
  const [second, setSecond] = useState(names.find((name) => name !== comparison.baseline) ?? '');
  const [question, setQuestion] = useState('Which answer is better?');
  const options = names.map((name) => ({ value: name, label: name }));
  const isReady = first !== second && question.trim() !== '';
  async function start() {
    const vote = await create.mutateAsync({ variants: [first, second], question: question.trim() });
    onOpen(vote.id);
  }
  return (
    <form
      className="vote__form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) start().catch(() => {});
      }}
    >
      <p className="small secondary">
        Pairs of answers to the same row appear without their variants, in random order. Models, versions and costs are
        revealed when you finish.
      </p>
      <div className="vote__choices">
        <Select label="First variant" isLabelHidden={false} value={first} onValueChange={setFirst} options={options} />
        <Select
          label="Second variant"
          isLabelHidden={false}
          value={second}
          onValueChange={setSecond}
          options={options}
        />
      </div>
      <TextField
        label="Question"
        value={question}
        maxLength={500}
        onValueChange={setQuestion}
        error={question.trim() === '' ? 'Enter a question' : null}
      />
      {first === second && <Notice tone="caution">Choose two different variants.</Notice>}
      {create.error && <Notice tone="negative">{describeError(create.error).message}</Notice>}
      <div className="row">
        <Button type="submit" variant="primary" isBusy={create.isPending} aria-disabled={!isReady}>
          Start voting
        </Button>
      </div>
    </form>
  );
}

function StartVote(props: StartProps) {
  if (props.comparison.variants.length < 2) {
    return (
      <div className="list-state">
        <EmptyState title="Nothing to vote on" reason="A blind vote needs two variants." />
      </div>
    );
  }
  return (
    <div className="vote__page">
      <StartForm {...props} />
      <EarlierVotes {...props} />
    </div>
  );
}

/** Blind votes over the answers of a comparison. A vote that isn't finished opens again. */
export function VoteView({ comparisonId }: { comparisonId: string }) {
  const [, navigate] = useLocation();
  const comparison = useComparison(comparisonId);
  const votes = useBlindVotes(comparisonId);
  /** `null` is a new vote, `undefined` the unfinished one. */
  const [chosen, setChosen] = useState<string | null | undefined>(undefined);
  const unfinished = votes.data?.find(({ isOwn, finishedAt }) => isOwn && finishedAt === null)?.id ?? null;
  const voteId = chosen === undefined ? unfinished : chosen;
  const vote = useBlindVote(voteId);
  useShowPageTitle(comparison.data ? `${comparison.data.name} / Blind vote` : null);

  function open(id: string | null) {
    setChosen(id);
  }
  const back = (
    <Button variant="quiet" icon={ArrowLeft} onClick={() => navigate(comparisonAddress(comparisonId))}>
      <span className="truncate">{comparison.data?.name ?? 'Results'}</span>
    </Button>
  );
  const isVoting = voteId !== null && vote.data?.finishedAt === null;
  return (
    <QueryView query={comparison} subject="the comparison">
      {(found) => (
        <QueryView query={votes} subject="the votes">
          {(all) => (
            <>
              {!isVoting && (
                <div className="toolbar">
                  {back}
                  <h2 className="section-title">Blind vote</h2>
                </div>
              )}
              {voteId === null ? (
                <StartVote comparison={found} earlier={all} onOpen={open} />
              ) : (
                <QueryView query={vote} subject="the vote">
                  {(opened) =>
                    opened.finishedAt === null ? (
                      <VoteQueue key={opened.id} vote={opened} back={back} onFinished={() => open(opened.id)} />
                    ) : (
                      <VoteResult vote={opened} variants={found.variants}>
                        <Button onClick={() => open(null)}>Vote again</Button>
                        <Button variant="primary" onClick={() => navigate(comparisonAddress(comparisonId))}>
                          Back to the results
                        </Button>
                      </VoteResult>
                    )
                  }
                </QueryView>
              )}
            </>
          )}
        </QueryView>
      )}
    </QueryView>
  );
}
