import type { z } from 'zod';
import {
  countDraftRuns,
  followPrompts,
  listPromptLabelChanges,
  listPromptUsage,
  type PromptChange,
  readPromptLabel,
  readPromptOutline,
  removePromptLabel,
  runPrompt,
  setPromptLabel,
} from '../../shared/contract/prompt-library.ts';
import {
  createPrompt,
  createPromptVersion,
  deletePrompt,
  listPrompts,
  listPromptVersions,
  type promptListQuery,
  readPrompt,
  readPromptVersion,
  updatePrompt,
} from '../../shared/contract/prompts.ts';
import { parseAhead } from '../completions/render-prompt.ts';
import type { PromptFilter } from '../storage/prompts/prompt-search.ts';
import type { Prompts } from '../prompts/create-prompts.ts';
import type { PromptChanges } from '../prompts/prompt-changes.ts';
import type { Log } from '../log.ts';
import { eventQueue, followResponse, followList } from './stream-response.ts';
import { type Handler, implement } from './api.ts';
import { type LearnedModels, learnModelOf } from './providers.ts';
import { toListQuery } from './validation.ts';
import { originOf, toMessageAnswer, wholeRunResponse } from './run-response.ts';
import {
  followPromptFolders,
  linkPromptFolder,
  listPromptFolders,
  readFolderFile,
  readPromptFolder,
  resolveFolderFile,
  unlinkPromptFolder,
} from '../../shared/contract/prompt-folders.ts';
import type { PromptFolders } from '../prompts/folder/create-prompt-folders.ts';

/** Tags of a comma-separated list. `\,` is a comma within a tag. */
function readTags(list: string): string[] {
  const tags = list.match(/(?:\\,|[^,])+/g) ?? [];
  return tags.map((tag) => tag.replaceAll('\\,', ',').trim()).filter((tag) => tag !== '');
}

function toFilter({ search, searchIn, folder, tags }: z.output<typeof promptListQuery>): PromptFilter {
  return {
    search: search ?? null,
    isOnlyDetails: searchIn === 'details',
    folder: folder ?? null,
    tags: tags === undefined ? [] : readTags(tags),
  };
}

async function* changesOf(promptChanges: PromptChanges, signal: AbortSignal): AsyncGenerator<PromptChange, void, void> {
  const queue = eventQueue<PromptChange>({
    signal,
    merge: (pending, next) => ({ ...next, removedIds: [...pending.removedIds, ...next.removedIds] }),
  });
  queue.push({ changes: promptChanges.count(), removedIds: [] });
  const unsubscribe = promptChanges.subscribe(queue.push);
  try {
    yield* queue;
  } finally {
    unsubscribe();
  }
}

export interface PromptServices {
  readonly prompts: Prompts;
  readonly promptChanges: PromptChanges;
}

function libraryHandlers(
  { prompts, promptChanges }: PromptServices,
  models: LearnedModels,
  reportFailure: Log,
): Handler[] {
  return [
    // Before the address with an id, which would match `run`.
    implement(runPrompt, async (input) => {
      const accepted = await prompts.run(input.body, originOf(input), { signal: input.signal });
      return wholeRunResponse(accepted, input, toMessageAnswer, reportFailure);
    }),
    implement(readPromptOutline, () => prompts.outline()),
    implement(followPrompts, (input) =>
      followResponse(input, (signal) => changesOf(promptChanges, signal), reportFailure),
    ),
    implement(listPrompts, ({ query }) => prompts.list({ ...toListQuery(query), filter: toFilter(query) })),
    implement(createPrompt, async ({ body }) => {
      await learnModelOf(body, models);
      await parseAhead(body.promptText);
      return prompts.create(body);
    }),
    implement(readPrompt, ({ parameters }) => prompts.read(parameters.id)),
    implement(updatePrompt, ({ parameters, body }) => prompts.update(parameters.id, body)),
    implement(deletePrompt, ({ parameters }) => prompts.remove(parameters.id)),
    implement(listPromptVersions, ({ parameters, query }) => prompts.listVersions(parameters.id, toListQuery(query))),
    implement(createPromptVersion, async ({ parameters, body }) => {
      await learnModelOf(body, models);
      await parseAhead(body.promptText);
      return prompts.addVersion(parameters.id, body);
    }),
    implement(readPromptLabel, ({ parameters }) => prompts.readLabel(parameters.id, parameters.label)),
    implement(setPromptLabel, ({ parameters, body }) => prompts.setLabel(parameters.id, parameters.label, body)),
    implement(removePromptLabel, ({ parameters }) => prompts.removeLabel(parameters.id, parameters.label)),
    implement(listPromptLabelChanges, ({ parameters, query }) =>
      prompts.listLabelChanges(parameters.id, toListQuery(query)),
    ),
    implement(listPromptUsage, ({ parameters, query }) => prompts.listUsage(parameters.id, toListQuery(query))),
    implement(countDraftRuns, async ({ parameters, body }) => ({
      runs: await prompts.countDraftRuns(parameters.id, parameters.versionId, body.draftId),
    })),
    implement(readPromptVersion, ({ parameters }) => prompts.readVersion(parameters.id, parameters.versionId)),
  ];
}

function folderHandlers(folders: PromptFolders, reportFailure: Log): Handler[] {
  return [
    implement(listPromptFolders, () => ({ data: folders.list() })),
    implement(followPromptFolders, (input) =>
      followResponse(input, (signal) => followList(folders, signal), reportFailure),
    ),
    implement(linkPromptFolder, ({ body, signal }) => folders.link(body.path, body.folder ?? null, { signal })),
    implement(unlinkPromptFolder, ({ parameters }) => folders.unlink(parameters.id)),
    implement(readPromptFolder, ({ parameters }) => folders.scan(parameters.id)),
    implement(readFolderFile, ({ parameters, body, signal }) => folders.readFile(parameters.id, body.path, { signal })),
    implement(resolveFolderFile, ({ parameters, body, signal }) => folders.resolve(parameters.id, body, { signal })),
  ];
}

export interface PromptHandlerOptions extends PromptServices {
  readonly folders: PromptFolders;
  readonly models: LearnedModels;
  readonly log: Log;
}

/** The prompt library and its linked folders. */
export function promptHandlers({ folders, models, log, ...library }: PromptHandlerOptions): Handler[] {
  return [...folderHandlers(folders, log), ...libraryHandlers(library, models, log)];
}
