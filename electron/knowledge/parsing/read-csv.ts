import papaparse from 'papaparse';
import { createDocumentWriter, type ReadDocument } from './document-writer.ts';
import type { ReportProgress } from './read-document.ts';
import { areColumnNames, createTableWriter } from './table-writer.ts';

/** A table row by row, each with the names of its columns; the delimiter is found in the text. */
export function readCsv(text: string, report: ReportProgress): ReadDocument {
  const writer = createDocumentWriter();
  const table = createTableWriter(writer, { isLenient: true });
  let isFirst = true;
  papaparse.parse<string[]>(text, {
    skipEmptyLines: 'greedy',
    step({ data, meta }) {
      table.row(data, { isHeader: isFirst && areColumnNames(data) });
      isFirst = false;
      report(meta.cursor / text.length);
    },
  });
  table.finish();
  return writer.finish();
}
