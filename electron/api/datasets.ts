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
import type { Datasets } from '../datasets/create-datasets.ts';
import { type Handler, implement } from './api.ts';
import { fileReaderOf } from './files.ts';
import { longJsonResponse } from './json-response.ts';
import { toListQuery } from './validation.ts';

const defaultRows = 100;

export function datasetHandlers(datasets: Datasets): Handler[] {
  return [
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
    implement(renameDataset, ({ parameters, body }) => datasets.rename(parameters.id, body.name)),
    implement(deleteDataset, ({ parameters, signal }) => datasets.remove(parameters.id, { signal })),
  ];
}
