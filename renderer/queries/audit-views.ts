import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  createAuditView,
  deleteAuditView,
  listAuditViews,
  updateAuditView,
  type AuditViewInput,
} from '../../shared/contract/audit-views.ts';
import { useHost } from '../host/host-context.tsx';

const auditViewsKey = ['audit', 'views'] as const;

/** Filters and sorts that were saved under a name. */
export function useAuditViews({ isEnabled = true } = {}) {
  const { client } = useHost();
  return useQuery({
    queryKey: auditViewsKey,
    enabled: isEnabled,
    queryFn: ({ signal }) => client.call(listAuditViews, { signal }),
  });
}

function useRenewViews() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: auditViewsKey });
}

export function useCreateAuditView() {
  const { client } = useHost();
  return useMutation({
    mutationFn: (body: AuditViewInput) => client.call(createAuditView, { body }),
    onSettled: useRenewViews(),
  });
}

export function useUpdateAuditView() {
  const { client } = useHost();
  return useMutation({
    mutationFn: ({ id, ...body }: Partial<AuditViewInput> & { id: string }) =>
      client.call(updateAuditView, { parameters: { id }, body }),
    onSettled: useRenewViews(),
  });
}

export function useDeleteAuditView() {
  const { client } = useHost();
  return useMutation({
    mutationFn: (id: string) => client.call(deleteAuditView, { parameters: { id } }),
    onSettled: useRenewViews(),
  });
}
