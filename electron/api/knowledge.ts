import {
  createDataspace,
  createSource,
  deleteDataspace,
  deleteSource,
  listDataspaces,
  listSources,
  readDataspace,
  readSource,
  reindexSource,
  searchDataspace,
} from '../../shared/contract/dataspaces.ts';
import type { Dataspaces, Knowledge } from '../knowledge/create-knowledge.ts';
import { type Retrieval, type SearchOutcome, toCitation } from '../knowledge/retrieval/create-retrieval.ts';
import { type Handler, implement } from './api.ts';
import { toListQuery } from './validation.ts';
import { payForCall, type Payment } from '../credits/credits.ts';
import type { Sources } from '../knowledge/create-sources.ts';
import type { AuthenticatedKey } from '../storage/storage.ts';
import {
  followKnowledge,
  type KnowledgeChange,
  listDataspaceSources,
  listDataspaceSummaries,
  listSourcePassages,
  readSourceDetail,
  readSourceText,
  reindexDataspace,
  renameDataspace,
  stopDataspace,
  stopSource,
} from '../../shared/contract/knowledge-window.ts';
import { type ChangedSources, mergeChanges } from '../knowledge/knowledge-changes.ts';
import type { Log } from '../log.ts';
import { eventQueue, followResponse } from './stream-response.ts';

const defaultLimit = 10;

export interface DataspaceOptions extends Payment {
  readonly dataspaces: Dataspaces;
  readonly retrieval: Retrieval;
  /** Whether a provider creates the embeddings. */
  readonly isEmbeddingPaid: () => boolean;
}

function dataspaceHandlers({ dataspaces, retrieval, isEmbeddingPaid, ...payment }: DataspaceOptions): Handler[] {
  return [
    implement(listDataspaces, ({ query }) => dataspaces.list(toListQuery(query))),
    implement(createDataspace, ({ body }) => dataspaces.create(body.name)),
    implement(readDataspace, ({ parameters }) => dataspaces.read(parameters.id)),
    implement(deleteDataspace, ({ parameters }) => dataspaces.remove(parameters.id)),
    implement(searchDataspace, async ({ parameters, body, signal, caller: { key } }) => {
      const { id } = dataspaces.read(parameters.id);
      const query = { dataspaceIds: [id], text: body.query, limit: body.limit ?? defaultLimit };
      const search = () => retrieval.search(query, { signal });
      const wasEmbedded = (outcome: SearchOutcome) => outcome.keywordOnlyReason === null;
      const isFree = key === null || !isEmbeddingPaid();
      const { passages } = await (isFree ? search() : payForCall(key, payment, search, wasEmbedded));
      return { data: passages.map((passage, index) => toCitation(passage, index + 1)) };
    }),
  ];
}

export interface SourceOptions extends Payment {
  readonly sources: Sources;
  /** Whether a provider creates the embeddings. */
  readonly isEmbeddingPaid: () => boolean;
}

function sourceHandlers({ sources, isEmbeddingPaid, credits, apiKeys }: SourceOptions): Handler[] {
  /** A key pays one credit each time that a provider embeds a source. Rejected files aren't embedded. `call` can release the credit. */
  async function payForIndexing<Value>(
    key: AuthenticatedKey | null,
    call: (release: () => void) => Value | Promise<Value>,
  ) {
    if (key === null || !isEmbeddingPaid()) return call(() => {});
    const reservation = await credits.reserve(key);
    try {
      const value = await call(reservation.release);
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
      payForIndexing(caller.key, (release) => {
        // It isn't queued a second time.
        if (sources.read(parameters.id).status === 'Processing') release();
        return sources.reindex(parameters.id);
      }),
    ),
  ];
}

const maxSources = 500;
const maxPassages = 200;
const maxCharacters = 100_000;
const defaultCharacters = 20_000;

async function* knowledgeChanges(
  knowledge: Knowledge,
  signal: AbortSignal,
): AsyncGenerator<KnowledgeChange, void, void> {
  const queue = eventQueue<ChangedSources>({ signal, merge: mergeChanges });
  const unsubscribe = knowledge.subscribe(queue.push);
  try {
    yield knowledge.present();
    for await (const change of queue) yield knowledge.describe(change);
  } finally {
    unsubscribe();
  }
}

function textRange(query: { start?: number | undefined; end?: number | undefined; context?: number | undefined }) {
  const start = query.start ?? 0;
  const end = query.end ?? start + defaultCharacters;
  const context = query.context ?? 0;
  const from = Math.max(0, start - context);
  return { start: from, end: Math.min(end + context, from + maxCharacters) };
}

function windowHandlers(knowledge: Knowledge, reportFailure: Log): Handler[] {
  const { dataspaces, sources } = knowledge;
  return [
    implement(listDataspaceSummaries, () => ({ data: dataspaces.summaries() })),
    implement(followKnowledge, (input) =>
      followResponse(input, (signal) => knowledgeChanges(knowledge, signal), reportFailure),
    ),
    implement(renameDataspace, ({ parameters, body }) => dataspaces.rename(parameters.id, body.name)),
    implement(stopDataspace, ({ parameters }) => dataspaces.stop(parameters.id)),
    implement(reindexDataspace, ({ parameters, body }) => dataspaces.reindex(parameters.id, body.which)),
    implement(listDataspaceSources, ({ parameters, query }) =>
      sources.range({
        dataspaceId: dataspaces.read(parameters.id).id,
        offset: query.offset,
        limit: Math.min(query.limit ?? maxSources, maxSources),
        text: query.text ?? '',
        status: query.status ?? null,
      }),
    ),
    implement(readSourceDetail, ({ parameters }) => sources.detail(parameters.id)),
    implement(stopSource, async ({ parameters }) => {
      await sources.stop([sources.read(parameters.id).id]);
      return sources.detail(parameters.id);
    }),
    implement(listSourcePassages, async ({ parameters, query, signal }) => ({
      data: await sources.passages(parameters.id, query.offset, Math.min(query.limit ?? maxPassages, maxPassages), {
        signal,
      }),
      total: sources.detail(parameters.id).passages ?? 0,
    })),
    implement(readSourceText, async ({ parameters, query }) => {
      const { pages, ...part } = await sources.text(parameters.id, textRange(query));
      return { ...part, pages: pages === null ? null : [...pages] };
    }),
  ];
}

export interface KnowledgeHandlerOptions extends Payment {
  readonly knowledge: Knowledge;
  /** Whether a provider creates the embeddings. */
  readonly isEmbeddingPaid: () => boolean;
  readonly log: Log;
}

/** Dataspaces and their sources. */
export function knowledgeHandlers({ knowledge, log, ...payment }: KnowledgeHandlerOptions): Handler[] {
  return [
    ...dataspaceHandlers({ ...knowledge, ...payment }),
    ...sourceHandlers({ ...knowledge, ...payment }),
    ...windowHandlers(knowledge, log),
  ];
}
