import {
  createLogImport,
  deleteLogImport,
  followLogImports,
  listLogImports,
  previewLogImport,
  readLogImport,
  receiveTraces,
  resumeLogImport,
  stopLogImport,
} from '../../shared/contract/log-imports.ts';
import type { LogImports } from '../audit/import/create-log-imports.ts';
import type { ApiKeyStore } from '../storage/storage.ts';
import type { Log } from '../log.ts';
import { type Caller, type Handler, implement } from './api.ts';
import { followList, followResponse } from './stream-response.ts';

function importerOf({ callerId, key }: Caller): { callerId: string; apiKeyId: string | null } {
  return { callerId, apiKeyId: key?.id ?? null };
}

/** Logs of other programs, and traces that they send. */
export function logImportHandlers(
  imports: LogImports,
  apiKeys: Pick<ApiKeyStore, 'list'>,
  reportFailure: Log,
): Handler[] {
  const nameOf = ({ key }: Caller) => apiKeys.list().find(({ id }) => id === key?.id)?.name ?? 'this window';
  return [
    implement(previewLogImport, async ({ readForm, signal }) => {
      await using received = imports.incoming();
      const { format = null, columns = {} } = await readForm((part) => received.receive(part));
      // Awaited, because the end of this function removes the file.
      return await received.preview({ format, columns, signal });
    }),
    implement(createLogImport, async ({ readForm, caller, signal }) => {
      await using received = imports.incoming();
      const { name = null, format = null, columns = {} } = await readForm((part) => received.receive(part));
      return await received.start({ ...importerOf(caller), name, format, columns, signal });
    }),
    implement(listLogImports, () => ({ data: imports.list() })),
    implement(followLogImports, (input) =>
      followResponse(input, (signal) => followList(imports, signal), reportFailure),
    ),
    implement(readLogImport, ({ parameters }) => imports.read(parameters.id)),
    implement(stopLogImport, ({ parameters }) => imports.stop(parameters.id)),
    implement(resumeLogImport, ({ parameters }) => imports.resume(parameters.id)),
    implement(deleteLogImport, ({ parameters }) => imports.remove(parameters.id)),
    implement(receiveTraces, async ({ body, caller, signal }) => {
      const level = caller.key?.recordLevel ?? 'all';
      await imports.receiveTraces(body, { ...importerOf(caller), name: nameOf(caller), level }, { signal });
      return { partialSuccess: {} };
    }),
  ];
}
