import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { checkSchema } from '../../shared/contract/schemas.ts';
import type { JsonSchema } from '../../shared/json-schema.ts';
import { useHost } from '../host/host-context.tsx';

/** The host's check of a schema; null while there is no schema. */
export function useSchemaCheck(schema: JsonSchema | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['schema-check', schema],
    enabled: schema !== null,
    // Each edit is a new schema, so nothing is cached.
    gcTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => client.call(checkSchema, { signal, body: { schema: schema! } }),
  });
}
