import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  createRubric,
  createRubricVersion,
  deleteRubric,
  listRubrics,
  readRubric,
  type Rubric,
  type RubricInput,
} from '../../shared/contract/rubrics.ts';
import { useHost } from '../host/host-context.tsx';

const rubricsKey = ['rubrics'] as const;

/** The newest rubrics, each in its latest version. */
export function useRubrics() {
  const { client } = useHost();
  return useQuery({
    queryKey: [...rubricsKey, 'list'],
    queryFn: ({ signal }) => client.call(listRubrics, { signal, query: { pageSize: 100 } }),
    select: ({ data }) => data,
  });
}

/** A rubric; the latest version if it is null. */
export function useRubric(id: string, version: number | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...rubricsKey, 'one', id, version],
    queryFn: ({ signal }) =>
      client.call(readRubric, { signal, parameters: { id }, query: version === null ? {} : { version } }),
  });
}

/** Creates a rubric, or adds a version to one. The caller shows the error. */
export function useSaveRubric(id: string | null) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ name, ...version }: RubricInput): Promise<Rubric> =>
      id === null
        ? client.call(createRubric, { body: { name, ...version } })
        : client.call(createRubricVersion, { parameters: { id }, body: version }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: rubricsKey }),
  });
}

export function useDeleteRubric() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => client.call(deleteRubric, { parameters: { id } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: rubricsKey }),
  });
}
