import { z } from 'zod';
import { listOf, listQuery, timestamp, uuid } from './common.ts';
import { citation } from './completions.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Dataspaces';
const notEmpty = 'must not be empty';

export const dataspaceInput = z
  .strictObject({ name: z.string().trim().min(1, notEmpty).max(300) })
  .meta({ id: 'DataspaceInput' });
export type DataspaceInput = z.infer<typeof dataspaceInput>;

/** What sources are kept in and completions are grounded on. */
export const dataspace = z.object({ id: uuid, name: z.string(), createdAt: timestamp }).meta({ id: 'Dataspace' });
export type Dataspace = z.infer<typeof dataspace>;

export const dataspaceSearch = z
  .strictObject({
    query: z
      .string()
      .refine((text) => text.trim() !== '', notEmpty)
      .max(10_000),
    limit: z.int().min(1).max(100).optional().describe('Most passages; 10 unless given'),
  })
  .meta({ id: 'DataspaceSearch' });
export type DataspaceSearch = z.infer<typeof dataspaceSearch>;

export const listDataspaces = defineEndpoint({
  id: 'listDataspaces',
  method: 'get',
  path: '/dataspaces',
  access: 'manage',
  tag,
  summary: 'List dataspaces',
  description: 'Newest first.',
  query: listQuery,
  response: listOf(dataspace),
});

export const createDataspace = defineEndpoint({
  id: 'createDataspace',
  method: 'post',
  path: '/dataspaces',
  access: 'manage',
  tag,
  summary: 'Create a dataspace',
  description: 'A dataspace holds sources that are searched together.',
  body: dataspaceInput,
  status: 201,
  response: dataspace,
});

export const readDataspace = defineEndpoint({
  id: 'readDataspace',
  method: 'get',
  path: '/dataspaces/{id}',
  access: 'manage',
  tag,
  summary: 'Read a dataspace',
  description: 'Returns its name and when it was created.',
  parameters: z.object({ id: uuid }),
  response: dataspace,
  errors: [404],
});

export const deleteDataspace = defineEndpoint({
  id: 'deleteDataspace',
  method: 'delete',
  path: '/dataspaces/{id}',
  access: 'manage',
  tag,
  summary: 'Delete a dataspace',
  description: 'Deletes its sources as well.',
  parameters: z.object({ id: uuid }),
  status: 204,
  kinds: ['empty'],
  errors: [404],
});

export const searchDataspace = defineEndpoint({
  id: 'searchDataspace',
  method: 'post',
  path: '/dataspaces/{id}/search',
  access: 'manage',
  tag,
  summary: 'Search a dataspace',
  description:
    'Returns the passages that answer the query best, found by keywords and by meaning, the most relevant first. Costs 1 credit if a provider makes the embeddings.',
  parameters: z.object({ id: uuid }),
  body: dataspaceSearch,
  response: z.object({ data: z.array(citation) }),
  errors: [402, 404],
});
