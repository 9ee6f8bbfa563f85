import { z } from 'zod';
import { uuid } from './common.ts';
import { dataspace, dataspaceInput, source, sourceStatus } from './dataspaces.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Window: knowledge';

const wholeNumber = (digits: number) =>
  z
    .string()
    .regex(new RegExp(`^\\d{1,${digits}}$`), 'must be a whole number')
    .transform(Number);

/** The failure reason of a source that a user stopped; indexing it again resumes it. */
export const stoppedReason = 'Stopped';

/** A dataspace with the window's additional fields. */
export const dataspaceSummary = dataspace.extend({
  sources: z.int(),
  /** Numbers of queued and failed ones among them. */
  processing: z.int(),
  failed: z.int(),
  /** Sources with vectors of another embedding model than the current one. They are found by keywords only until they are indexed again. */
  outdated: z.int(),
  /** Sum of the original files. */
  bytes: z.int(),
  passages: z.int(),
});
export type DataspaceSummary = z.infer<typeof dataspaceSummary>;

/** The current step of a `Processing` source. */
export const sourceProgress = z.object({
  stage: z.enum(['waiting', 'reading', 'embedding']),
  /** Completed share of the step, 0 to 1. */
  fraction: z.number(),
  /** Passages embedded and written so far, and all of them; null before the file is read. */
  passagesDone: z.int().nullable(),
  passagesTotal: z.int().nullable(),
  /** Passages per second while embedding; null otherwise. */
  rate: z.number().nullable(),
});
export type SourceProgress = z.infer<typeof sourceProgress>;

/** A source with the window's additional fields. */
export const sourceDetail = source.extend({
  /** Null unless it is `Processing`. */
  progress: sourceProgress.nullable(),
  /** Searchable passages; during indexing those of the previous indexing. Null before the first one. */
  passages: z.int().nullable(),
  /** Null for a format without pages, and before it is read. */
  pages: z.int().nullable(),
  /** UTF-16 units of the extracted text; null before it is read. */
  characters: z.int().nullable(),
  /** The model of its vectors; null without vectors. */
  embeddingModel: z.string().nullable(),
  /** Whether that is another model than the current one. The source is then found by keywords only until it is indexed again. */
  isOutdated: z.boolean(),
});
export type SourceDetail = z.infer<typeof sourceDetail>;

const parameters = z.object({ id: uuid });

export const listDataspaceSummaries = defineEndpoint({
  id: 'listDataspaceSummaries',
  method: 'get',
  path: '/window/knowledge/dataspaces',
  access: 'window',
  tag,
  summary: 'All dataspaces with counts, newest first',
  response: z.object({ data: z.array(dataspaceSummary) }),
});

export const renameDataspace = defineEndpoint({
  id: 'renameDataspace',
  method: 'patch',
  path: '/window/knowledge/dataspaces/{id}',
  access: 'window',
  tag,
  summary: 'Give a dataspace another name',
  parameters,
  body: dataspaceInput,
  response: dataspaceSummary,
  errors: [404],
});

export const listDataspaceSources = defineEndpoint({
  id: 'listDataspaceSources',
  method: 'get',
  path: '/window/knowledge/dataspaces/{id}/sources',
  access: 'window',
  tag,
  summary: 'A range of the sources of a dataspace, newest first, at most 500',
  parameters,
  query: z.strictObject({
    offset: wholeNumber(7),
    limit: wholeNumber(3).optional(),
    /** Part of the name or of the file name, ignoring case. */
    text: z.string().max(300).optional(),
    status: sourceStatus.optional(),
  }),
  response: z.object({ data: z.array(sourceDetail), total: z.int() }),
  errors: [404],
});

export const readSourceDetail = defineEndpoint({
  id: 'readSourceDetail',
  method: 'get',
  path: '/window/knowledge/sources/{id}',
  access: 'window',
  tag,
  summary: 'One source with its progress',
  parameters,
  response: sourceDetail,
  errors: [404],
});

/** Changes since the previous part. */
export const knowledgeChange = z.object({
  /** All of them, as in the list. */
  dataspaces: z.array(dataspaceSummary),
  /** New and changed sources. In the first part: the `Processing` ones. */
  sources: z.array(sourceDetail),
  removedSourceIds: z.array(uuid),
});
export type KnowledgeChange = z.infer<typeof knowledgeChange>;

export const followKnowledge = defineEndpoint({
  id: 'followKnowledge',
  method: 'get',
  path: '/window/knowledge/events',
  access: 'window',
  tag,
  summary: 'The current dataspaces, then changes of them and their sources, at most five times a second',
  kinds: ['event-stream'],
  part: knowledgeChange,
});

export const stopSource = defineEndpoint({
  id: 'stopSource',
  method: 'post',
  path: '/window/knowledge/sources/{id}/stop',
  access: 'window',
  tag,
  summary:
    'Stop indexing a source; it becomes `Failed` with the reason `Stopped`, and indexing it again resumes it. Does nothing unless the source is `Processing`',
  parameters,
  response: sourceDetail,
  errors: [404],
});

export const stopDataspace = defineEndpoint({
  id: 'stopDataspace',
  method: 'post',
  path: '/window/knowledge/dataspaces/{id}/stop',
  access: 'window',
  tag,
  summary: 'Stop indexing every source of a dataspace that is `Processing`',
  parameters,
  response: dataspaceSummary,
  errors: [404],
});

export const reindexDataspace = defineEndpoint({
  id: 'reindexDataspace',
  method: 'post',
  path: '/window/knowledge/dataspaces/{id}/reindex',
  access: 'window',
  tag,
  summary:
    'Index many sources of a dataspace again: those that failed or were stopped, those of another embedding model, or all',
  parameters,
  body: z.strictObject({ which: z.enum(['failed', 'outdated', 'all']) }),
  status: 202,
  response: dataspaceSummary,
  errors: [404],
});

export const sourcePassage = z.object({
  /** Index among the passages of the source, from 0. */
  position: z.int(),
  text: z.string(),
  /** Offsets into the extracted text, in UTF-16 units; `end` is exclusive. */
  start: z.int(),
  end: z.int(),
  page: z.int().nullable(),
  heading: z.string().nullable(),
});
export type SourcePassage = z.infer<typeof sourcePassage>;

export const listSourcePassages = defineEndpoint({
  id: 'listSourcePassages',
  method: 'get',
  path: '/window/knowledge/sources/{id}/passages',
  access: 'window',
  tag,
  summary: 'A range of the passages of a source in their order, at most 200',
  parameters,
  query: z.strictObject({ offset: wholeNumber(7), limit: wholeNumber(3).optional() }),
  response: z.object({ data: z.array(sourcePassage), total: z.int() }),
  errors: [404],
});

export const readSourceText = defineEndpoint({
  id: 'readSourceText',
  method: 'get',
  path: '/window/knowledge/sources/{id}/text',
  access: 'window',
  tag,
  summary: 'Part of the extracted text of a source, at most 100,000 characters; no character is split',
  parameters,
  query: z.strictObject({
    /** From the start by default. */
    start: wholeNumber(9).optional(),
    /** 20,000 characters after the start by default. */
    end: wholeNumber(9).optional(),
    /** Further characters on both sides for context; 0 by default. */
    context: wholeNumber(5).optional(),
  }),
  response: z.object({
    text: z.string(),
    /** Offset of `text` in the source, in UTF-16 units. */
    start: z.int(),
    end: z.int(),
    /** Length of the whole. */
    characters: z.int(),
    /** The pages that overlap the part, with their positions in the whole; null for a format without pages. */
    pages: z.array(z.object({ page: z.int(), start: z.int(), end: z.int() })).nullable(),
  }),
  errors: [404, 409],
});
