import type { ExportRow, ExportRows } from '../../storage/export-rows.ts';
import { sampleCallerName } from '../samples/sample-callers.ts';
import type { Redactor } from './redaction.ts';

/** The names that stand beside the ids of a run in the HTML pages. People wrote them, so the rules apply to them too. */
export interface PackNames {
  readonly caller: string | null;
  readonly prompt: string | null;
  readonly promptVersion: string | null;
  readonly agent: string | null;
  /** By id. */
  readonly dataspaces: Readonly<Record<string, string>>;
}

/** Far more than a pack needs at once; one of a million agents' runs must not fill the memory. */
const maxCachedNames = 10_000;

/** Looks the names of a run up, as they are when its conversation is written. */
export function createNameReader(rows: ExportRows, redactor: Redactor): (row: ExportRow) => PackNames {
  const known = new Map<string, string | null>();

  function cached(kind: string, id: string | null, read: (id: string) => string | null): string | null {
    if (id === null) return null;
    const key = `${kind} ${id}`;
    let name = known.get(key);
    if (name === undefined) {
      const found = read(id);
      name = found === null ? null : redactor.text(found);
      if (known.size >= maxCachedNames) known.clear();
      known.set(key, name);
    }
    return name;
  }

  return (row) => {
    const dataspaceIds = row.dataspace_ids_json === null ? [] : (JSON.parse(row.dataspace_ids_json) as string[]);
    const dataspaces = dataspaceIds.flatMap((id) => {
      const name = cached('dataspace', id, rows.names.dataspace);
      return name === null ? [] : [[id, name] as const];
    });
    return {
      caller: cached('caller', row.caller_id, (id) => rows.names.caller(id) ?? sampleCallerName(id)),
      prompt: cached('prompt', row.prompt_id, rows.names.prompt),
      promptVersion: cached('version', row.prompt_version_id, rows.names.promptVersion),
      agent: cached('agent', rows.names.agentOf(row.id), rows.names.agent),
      dataspaces: Object.fromEntries(dataspaces),
    };
  };
}
