import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  estimateCapabilityTest,
  listCapabilityTests,
  startCapabilityTest,
  stopCapabilityTest,
} from '../../shared/contract/capability-tests.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import { useHost } from '../host/host-context.tsx';

const testsKey = ['capability-tests'] as const;

interface CapabilityTarget {
  aiSystem: AiSystem;
  model: string;
}

/** The last capability test of each provider. */
export function useCapabilityTests() {
  const { client } = useHost();
  return useQuery({
    queryKey: testsKey,
    queryFn: ({ signal }) => client.call(listCapabilityTests, { signal }),
    refetchInterval: ({ state }) => (state.data?.data.some((test) => test.state === 'Running') ? 1000 : false),
  });
}

/** What a test would send and cost; nothing while there is no model. */
export function useCapabilityEstimate({ aiSystem, model }: { aiSystem: AiSystem; model: string | null }) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['capability-estimate', aiSystem, model],
    queryFn: ({ signal }) => client.call(estimateCapabilityTest, { body: { aiSystem, model: model ?? '' }, signal }),
    enabled: model !== null,
  });
}

export function useStartCapabilityTest() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: CapabilityTarget) => client.call(startCapabilityTest, { body }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: testsKey }),
  });
}

export function useStopCapabilityTest() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => client.call(stopCapabilityTest, { parameters: { id } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: testsKey }),
  });
}
