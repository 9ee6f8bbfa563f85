import {
  createDataspace,
  deleteDataspace,
  listDataspaces,
  readDataspace,
  searchDataspace,
} from '../../shared/contract/dataspaces.ts';
import type { Dataspaces } from '../knowledge/create-dataspaces.ts';
import { toCitation, type Retrieval } from '../knowledge/retrieval/create-retrieval.ts';
import { implement, type Handler } from './handler.ts';
import { toListQuery } from './list-query.ts';

const defaultLimit = 10;

export function dataspaceHandlers(dataspaces: Dataspaces, retrieval: Retrieval): Handler[] {
  return [
    implement(listDataspaces, ({ query }) => dataspaces.list(toListQuery(query))),
    implement(createDataspace, ({ body }) => dataspaces.create(body.name)),
    implement(readDataspace, ({ parameters }) => dataspaces.read(parameters.id)),
    implement(deleteDataspace, ({ parameters }) => dataspaces.remove(parameters.id)),
    implement(searchDataspace, async ({ parameters, body, signal }) => {
      const { id } = dataspaces.read(parameters.id);
      const query = { dataspaceIds: [id], text: body.query, limit: body.limit ?? defaultLimit };
      const { passages } = await retrieval.search(query, { signal });
      return { data: passages.map((passage, index) => toCitation(passage, index + 1)) };
    }),
  ];
}
