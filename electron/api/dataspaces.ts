import {
  createDataspace,
  deleteDataspace,
  listDataspaces,
  readDataspace,
  searchDataspace,
} from '../../shared/contract/dataspaces.ts';
import type { Dataspaces } from '../knowledge/create-dataspaces.ts';
import { toCitation, type Retrieval, type SearchOutcome } from '../knowledge/retrieval/create-retrieval.ts';
import { implement, type Handler } from './handler.ts';
import { toListQuery } from './list-query.ts';
import { payForCall, type Payment } from './paid-call.ts';

const defaultLimit = 10;

export interface DataspaceOptions extends Payment {
  readonly dataspaces: Dataspaces;
  readonly retrieval: Retrieval;
  /** Whether a provider makes the embeddings. */
  readonly isEmbeddingPaid: () => boolean;
}

export function dataspaceHandlers({ dataspaces, retrieval, isEmbeddingPaid, ...payment }: DataspaceOptions): Handler[] {
  return [
    implement(listDataspaces, ({ query }) => dataspaces.list(toListQuery(query))),
    implement(createDataspace, ({ body }) => dataspaces.create(body.name)),
    implement(readDataspace, ({ parameters }) => dataspaces.read(parameters.id)),
    implement(deleteDataspace, ({ parameters }) => dataspaces.remove(parameters.id)),
    implement(searchDataspace, async ({ parameters, body, signal, caller: { key } }) => {
      const { id } = dataspaces.read(parameters.id);
      const query = { dataspaceIds: [id], text: body.query, limit: body.limit ?? defaultLimit };
      const search = () => retrieval.search(query, { signal });
      const wasEmbedded = (outcome: SearchOutcome) => outcome.wordsAloneBecause === null;
      const isFree = key === null || !isEmbeddingPaid();
      const { passages } = await (isFree ? search() : payForCall(key, payment, search, wasEmbedded));
      return { data: passages.map((passage, index) => toCitation(passage, index + 1)) };
    }),
  ];
}
