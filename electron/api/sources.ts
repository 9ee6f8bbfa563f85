import { createSource, deleteSource, listSources, readSource, reindexSource } from '../../shared/contract/sources.ts';
import type { Sources } from '../knowledge/create-sources.ts';
import type { AuthenticatedKey } from '../storage/storage.ts';
import { implement, type Handler } from './handler.ts';
import { toListQuery } from './list-query.ts';
import type { Payment } from './paid-call.ts';

export interface SourceOptions extends Payment {
  readonly sources: Sources;
  /** Whether a provider makes the embeddings. */
  readonly isEmbeddingPaid: () => boolean;
}

export function sourceHandlers({ sources, isEmbeddingPaid, credits, apiKeys }: SourceOptions): Handler[] {
  /** A key pays one credit for each time that a provider embeds a source. What is rejected isn't embedded. */
  async function payForIndexing<Value>(key: AuthenticatedKey | null, call: () => Value | Promise<Value>) {
    if (key === null || !isEmbeddingPaid()) return call();
    const reservation = credits.reserve(key);
    try {
      const value = await call();
      apiKeys.charge(key.id, reservation.consumed);
      return value;
    } catch (error) {
      reservation.release();
      throw error;
    }
  }

  return [
    implement(createSource, async ({ readForm, signal, caller }) => {
      await using file = await sources.incoming();
      let fileName = '';
      return await payForIndexing(caller.key, async () => {
        const fields = await readForm((part) => {
          fileName = part.fileName;
          return file.receive(part.content);
        });
        return sources.create({ ...fields, fileName }, file, { signal });
      });
    }),
    implement(listSources, ({ query }) => sources.list(toListQuery(query))),
    implement(readSource, ({ parameters }) => sources.read(parameters.id)),
    implement(deleteSource, ({ parameters }) => sources.remove(parameters.id)),
    implement(reindexSource, ({ parameters, caller }) =>
      payForIndexing(caller.key, () => sources.reindex(parameters.id)),
    ),
  ];
}
