import {
  followKnowledge,
  listDataspaceSources,
  listDataspaceSummaries,
  listSourcePassages,
  readSourceDetail,
  readSourceText,
  reindexDataspace,
  renameDataspace,
  stopDataspace,
  stopSource,
  type KnowledgeChange,
} from '../../shared/contract/knowledge-window.ts';
import type { Knowledge } from '../knowledge/create-knowledge.ts';
import { mergeChanges, type ChangedSources } from '../knowledge/knowledge-changes.ts';
import type { Log } from '../log.ts';
import { eventQueue } from './event-queue.ts';
import { followAnswer } from './follow-answer.ts';
import { implement, type Handler } from './handler.ts';

const maxSources = 500;
const maxPassages = 200;
const maxCharacters = 100_000;
const defaultCharacters = 20_000;

async function* changes(knowledge: Knowledge, signal: AbortSignal): AsyncGenerator<KnowledgeChange, void, void> {
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

export function knowledgeWindowHandlers(knowledge: Knowledge, reportFailure: Log): Handler[] {
  const { dataspaces, sources } = knowledge;
  return [
    implement(listDataspaceSummaries, () => ({ data: dataspaces.summaries() })),
    implement(followKnowledge, (input) => followAnswer(input, (signal) => changes(knowledge, signal), reportFailure)),
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
