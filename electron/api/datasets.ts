import { compareDatasetVersions, editDataset } from '../../shared/contract/dataset-edits.ts';
import {
  addRunsToDataset,
  createRunDataset,
  importDataset,
  listDatasetJobs,
  previewDatasetImport,
  readDatasetJob,
  startDatasetJob,
  stopDatasetJob,
} from '../../shared/contract/dataset-import.ts';
import {
  createDataset,
  createDatasetVersion,
  deleteDataset,
  listDatasets,
  listDatasetVersions,
  readDataset,
  readDatasetRows,
  renameDataset,
} from '../../shared/contract/datasets.ts';
import type { RunDatasets } from '../datasets/create-run-datasets.ts';
import type { Datasets } from '../datasets/create-datasets.ts';
import type { DatasetImport } from '../datasets/import/create-dataset-import.ts';
import type { Team } from '../team/create-team.ts';
import { type Caller, type Handler, implement, requireManage } from './api.ts';
import { fileReaderOf } from './files.ts';
import { longJsonResponse } from './json-response.ts';
import { toListQuery } from './validation.ts';

const defaultRows = 100;

/** Datasets of runs, and the jobs that make large ones. */
function runDatasetHandlers(runDatasets: RunDatasets, team: Pick<Team, 'servesApi'>): Handler[] {
  // Only a host with `--team` shows the runs of other hosts to programs.
  const readerOf = (caller: Caller) => ({
    reader: fileReaderOf(caller),
    readsTeam: team.servesApi || caller.key === null,
  });
  return [
    implement(createRunDataset, ({ body, caller, signal }) => {
      requireManage(caller);
      return runDatasets.create(body, { ...readerOf(caller), signal });
    }),
    implement(addRunsToDataset, ({ parameters, body, caller, signal }) => {
      requireManage(caller);
      return runDatasets.add(parameters.id, body, { ...readerOf(caller), signal });
    }),
    implement(startDatasetJob, ({ body, caller }) => {
      requireManage(caller);
      return runDatasets.start(body, readerOf(caller));
    }),
    implement(listDatasetJobs, ({ caller }) => {
      requireManage(caller);
      return { data: runDatasets.list() };
    }),
    implement(readDatasetJob, ({ parameters, caller }) => {
      requireManage(caller);
      return runDatasets.read(parameters.id);
    }),
    implement(stopDatasetJob, ({ parameters, caller }) => {
      requireManage(caller);
      return runDatasets.stop(parameters.id);
    }),
  ];
}

function importHandlers(imports: DatasetImport): Handler[] {
  return [
    implement(importDataset, async ({ readForm, caller, signal }) => {
      await using received = await imports.incoming();
      const fields = await readForm((part) => received.receive(part));
      const {
        name = null,
        types = {},
        names = {},
        format = null,
        sheet = null,
        definition = null,
        files = {},
      } = fields;
      // Awaited, because the end of this function removes the file.
      const how = { format, sheet, definition, files, signal };
      return await received.store({ ...how, name, types, names, reader: fileReaderOf(caller) });
    }),
    implement(previewDatasetImport, async ({ readForm, signal }) => {
      await using received = await imports.incoming();
      const fields = await readForm((part) => received.receive(part));
      const { format = null, sheet = null, definition = null, files = {} } = fields;
      return longJsonResponse(await received.preview({ format, sheet, definition, files, signal }));
    }),
  ];
}

export function datasetHandlers(
  datasets: Datasets,
  imports: DatasetImport,
  runDatasets: RunDatasets,
  team: Pick<Team, 'servesApi'>,
): Handler[] {
  return [
    ...runDatasetHandlers(runDatasets, team),
    ...importHandlers(imports),
    implement(listDatasets, ({ query }) => datasets.list(toListQuery(query))),
    implement(createDataset, ({ body, caller, signal }) =>
      datasets.create(body, { reader: fileReaderOf(caller), signal }),
    ),
    implement(readDataset, ({ parameters, query }) => datasets.read(parameters.id, query.version ?? null)),
    implement(readDatasetRows, ({ parameters, query }) => {
      const { version = null, offset = 0, limit = defaultRows } = query;
      return longJsonResponse(datasets.rows(parameters.id, { version, offset, limit }));
    }),
    implement(listDatasetVersions, ({ parameters, query }) => datasets.listVersions(parameters.id, toListQuery(query))),
    implement(createDatasetVersion, ({ parameters, body, caller, signal }) =>
      datasets.addVersion(parameters.id, body, { reader: fileReaderOf(caller), signal }),
    ),
    implement(editDataset, async ({ parameters, readForm, caller, signal }) => {
      await using received = await imports.incoming();
      const { baseVersion, latestVersion = null, note = null } = await readForm((part) => received.receive(part));
      const edits = { path: received.path, baseVersion, latestVersion, note };
      return await datasets.edit(parameters.id, edits, { reader: fileReaderOf(caller), signal });
    }),
    implement(compareDatasetVersions, ({ parameters, query, signal }) =>
      datasets.difference(parameters.id, parameters.version, query.base ?? null, { signal }),
    ),
    implement(renameDataset, ({ parameters, body }) => datasets.rename(parameters.id, body.name)),
    implement(deleteDataset, ({ parameters, signal }) => datasets.remove(parameters.id, { signal })),
  ];
}
