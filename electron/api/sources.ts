import { createSource, deleteSource, listSources, readSource, reindexSource } from '../../shared/contract/sources.ts';
import type { Sources } from '../knowledge/create-sources.ts';
import { implement, type Handler } from './handler.ts';
import { toListQuery } from './list-query.ts';

export function sourceHandlers(sources: Sources): Handler[] {
  return [
    implement(createSource, async ({ readForm, signal }) => {
      await using file = await sources.incoming();
      let fileName = '';
      const fields = await readForm((part) => {
        fileName = part.fileName;
        return file.receive(part.content);
      });
      return await sources.create({ ...fields, fileName }, file, { signal });
    }),
    implement(listSources, ({ query }) => sources.list(toListQuery(query))),
    implement(readSource, ({ parameters }) => sources.read(parameters.id)),
    implement(deleteSource, ({ parameters }) => sources.remove(parameters.id)),
    implement(reindexSource, ({ parameters }) => sources.reindex(parameters.id)),
  ];
}
