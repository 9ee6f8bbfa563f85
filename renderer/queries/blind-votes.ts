import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  type BlindVote,
  createBlindVote,
  deleteBlindVote,
  finishBlindVote,
  listBlindVotes,
  type PairVote,
  readBlindVote,
  undoPairVote,
  updateBlindVote,
  voteOnPair,
} from '../../shared/contract/blind-votes.ts';
import { useHost } from '../host/host-context.tsx';

const listKey = (comparisonId: string) => ['blind-votes', 'of', comparisonId] as const;
const oneKey = (id: string | null) => ['blind-votes', 'one', id] as const;

/** The blind votes of a comparison, newest first. */
export function useBlindVotes(comparisonId: string) {
  const { client } = useHost();
  return useQuery({
    queryKey: listKey(comparisonId),
    queryFn: ({ signal }) =>
      client.call(listBlindVotes, { signal, parameters: { id: comparisonId }, query: { pageSize: 100 } }),
    select: ({ data }) => data,
  });
}

/** A blind vote with its next pair. Votes replace it, so that it is not fetched again while somebody votes. */
export function useBlindVote(id: string | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: oneKey(id),
    enabled: id !== null,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => client.call(readBlindVote, { signal, parameters: { id: id! } }),
  });
}

/** What changes a vote. Each step shows the next pair. */
export type VoteStep =
  | { kind: 'vote'; rowId: string; repeat: number; vote: PairVote; note: string }
  | { kind: 'undo' }
  | { kind: 'finish' }
  | { kind: 'question'; question: string };

export function useVoteStep(id: string) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const parameters = { id };
  return useMutation({
    mutationFn: (step: VoteStep): Promise<BlindVote> => {
      if (step.kind === 'undo') return client.call(undoPairVote, { parameters });
      if (step.kind === 'finish') return client.call(finishBlindVote, { parameters });
      if (step.kind === 'question')
        return client.call(updateBlindVote, { parameters, body: { question: step.question } });
      const { rowId, vote, repeat, note } = step;
      return client.call(voteOnPair, { parameters: { id, rowId }, body: { vote, repeat, note: note.trim() || null } });
    },
    onSuccess: async (vote, { kind }) => {
      queryClient.setQueryData(oneKey(id), vote);
      // Rows where a judge and a person disagree are known from now on.
      if (kind === 'finish') await queryClient.invalidateQueries({ queryKey: ['comparisons'] });
      if (kind !== 'vote') await queryClient.invalidateQueries({ queryKey: listKey(vote.comparisonId) });
    },
  });
}

export function useCreateBlindVote(comparisonId: string) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: { variants: string[]; question?: string }) =>
      client.call(createBlindVote, { parameters: { id: comparisonId }, body }),
    onSuccess: async (vote) => {
      queryClient.setQueryData(oneKey(vote.id), vote);
      await queryClient.invalidateQueries({ queryKey: listKey(comparisonId) });
    },
  });
}

export function useDeleteBlindVote(comparisonId: string) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => client.call(deleteBlindVote, { parameters: { id } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: listKey(comparisonId) }),
  });
}
