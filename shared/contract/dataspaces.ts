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

/** A collection of sources that grounds completions. */
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
    'Returns the passages that answer the query best, found by keywords and by meaning, the most relevant first. Costs 1 credit if a provider creates the embeddings.',
  parameters: z.object({ id: uuid }),
  body: dataspaceSearch,
  response: z.object({ data: z.array(citation) }),
  errors: [402, 404],
});

const sourcesTag = 'Sources';

/** Max bytes of one source: 50 MB. */
export const maximumSourceBytes = 50 * 1_048_576;

export const sourceMediaTypes = [
  'text/plain',
  'text/markdown',
  'text/html',
  'text/csv',
  'application/json',
  'application/pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
] as const;
export const sourceMediaType = z.enum(sourceMediaTypes).meta({ id: 'SourceMediaType' });
export type SourceMediaType = z.infer<typeof sourceMediaType>;

export const sourceStatus = z.enum(['Processing', 'Ready', 'Failed']).meta({ id: 'SourceStatus' });
export type SourceStatus = z.infer<typeof sourceStatus>;

/** One file of a dataspace. Its type is detected from its content, not from its name. */
export const source = z
  .object({
    id: uuid,
    name: z.string(),
    fileName: z.string(),
    mediaType: sourceMediaType,
    bytes: z.int(),
    status: sourceStatus,
    failureReason: z.string().nullable().describe('What kept it from being read, for a person; null unless it failed'),
    dataspaceId: uuid,
    createdAt: timestamp,
  })
  .meta({ id: 'Source' });
export type Source = z.infer<typeof source>;

/** The form fields beside the file. */
export const sourceForm = z.strictObject({
  name: z.string().trim().min(1, 'must not be empty').max(300),
  dataspaceId: uuid.optional().describe('Where it goes; the dataspace `Default` unless given'),
});
export type SourceForm = z.infer<typeof sourceForm>;

export const createSource = defineEndpoint({
  id: 'createSource',
  method: 'post',
  path: '/sources',
  access: 'manage',
  tag: sourcesTag,
  summary: 'Add a file to a dataspace',
  description:
    "Accepts one file of at most 50 MB. The source can be found by searches once its status is `Ready`; it is `Failed`, with a reason, if the file can't be read. Costs 1 credit if a provider creates the embeddings.",
  form: { fields: sourceForm, maximumFileBytes: maximumSourceBytes },
  status: 201,
  response: source,
  errors: [402],
});

export const listSources = defineEndpoint({
  id: 'listSources',
  method: 'get',
  path: '/sources',
  access: 'manage',
  tag: sourcesTag,
  summary: 'List sources',
  description: 'Newest first.',
  query: listQuery,
  response: listOf(source),
});

export const readSource = defineEndpoint({
  id: 'readSource',
  method: 'get',
  path: '/sources/{id}',
  access: 'manage',
  tag: sourcesTag,
  summary: 'Read a source',
  description: 'Returns the source with its status and, if it failed, the reason.',
  parameters: z.object({ id: uuid }),
  response: source,
  errors: [404],
});

export const deleteSource = defineEndpoint({
  id: 'deleteSource',
  method: 'delete',
  path: '/sources/{id}',
  access: 'manage',
  tag: sourcesTag,
  summary: 'Delete a source',
  description: 'Its passages are no longer found by searches.',
  parameters: z.object({ id: uuid }),
  status: 204,
  kinds: ['empty'],
  errors: [404],
});

export const reindexSource = defineEndpoint({
  id: 'reindexSource',
  method: 'post',
  path: '/sources/{id}/reindex',
  access: 'manage',
  tag: sourcesTag,
  summary: 'Re-index a source',
  description:
    'Parses, chunks and embeds the file again. The response comes at once; the status shows the progress. Costs 1 credit if a provider creates the embeddings.',
  parameters: z.object({ id: uuid }),
  status: 202,
  response: source,
  errors: [402, 404],
});
