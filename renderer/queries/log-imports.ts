import { useMutation, useQueryClient } from '@tanstack/react-query';
import {
  createLogImport,
  type CsvField,
  deleteLogImport,
  followLogImports,
  listLogImports,
  type LogImport,
  previewLogImport,
  resumeLogImport,
  stopLogImport,
} from '../../shared/contract/log-imports.ts';
import { useHost } from '../host/host-context.tsx';
import { useRenewalAfterJob } from './audit-jobs.ts';
import { useFollowedList } from './follow.ts';

const importsKey = ['audit', 'imports'] as const;

/** Imported logs, newest first, with the progress of those that are being read. */
export function useLogImports() {
  return useFollowedList(importsKey, (client, signal) => client.call(listLogImports, { signal }), followLogImports);
}

/** Refetches the runs after an import has ended or is deleted. Takes the list from its caller: another reader would be another stream. */
export function useRenewalAfterImports(imports: readonly LogImport[] | undefined): void {
  const quiet = imports?.filter(({ state }) => state !== 'Running');
  useRenewalAfterJob({
    state: quiet?.map(({ id, state }) => `${id} ${state}`).join(),
    isActive: imports?.some(({ state }) => state === 'Running' || state === 'Removing') ?? false,
  });
}

/** A log, and what its columns are if it is a CSV file. */
export interface LogSource {
  readonly file: File;
  readonly columns?: Readonly<Record<string, CsvField | null>>;
}

interface Upload extends LogSource {
  readonly signal: AbortSignal;
}

const fieldsOf = ({ columns }: LogSource) => (columns ? { columns: JSON.stringify(columns) } : {});

/** What an import of a log would store. The caller shows the error. */
export function usePreviewLog() {
  const { client } = useHost();
  return useMutation({
    meta: { isOnlyForCaller: true },
    mutationFn: ({ signal, ...source }: Upload) =>
      client.upload(previewLogImport, { fields: fieldsOf(source), file: source.file, signal }),
  });
}

/** Starts an import. The caller shows the error. */
export function useImportLog() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ signal, ...source }: Upload) =>
      client.upload(createLogImport, { fields: fieldsOf(source), file: source.file, signal }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: importsKey }),
  });
}

/** Stops, resumes or deletes an import. */
export function useChangeLogImport() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, change }: { id: string; change: 'stop' | 'resume' | 'delete' }): Promise<void> => {
      const parameters = { id };
      if (change === 'stop') await client.call(stopLogImport, { parameters });
      else if (change === 'resume') await client.call(resumeLogImport, { parameters });
      else await client.call(deleteLogImport, { parameters });
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: importsKey }),
  });
}
