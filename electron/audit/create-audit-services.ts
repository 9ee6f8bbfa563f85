import { join } from 'node:path';
import type { Completions } from '../completions/completions.ts';
import type { KeyStore } from '../key-store/key-store.ts';
import type { Log } from '../log.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { Storage } from '../storage/storage.ts';
import type { TeamRecords } from '../team/team-records.ts';
import { createExports, type Exports } from './evidence/create-exports.ts';
import { createLogImports, type LogImports } from './import/create-log-imports.ts';
import { createReplays, type Replays } from './replay/create-replays.ts';
import { createRetention, type Retention } from './retention/create-retention.ts';
import { createTraceExport, type TraceExport } from './trace-export/create-trace-export.ts';
import { createSamples, type Samples } from './samples/create-samples.ts';

/** Services for recorded runs, besides search: evidence packs, imported logs, replays, retention and samples. */
export interface AuditServices {
  readonly exports: Exports;
  readonly logImports: LogImports;
  readonly samples: Samples;
  readonly retention: Retention;
  readonly replays: Replays;
  readonly traceExport: TraceExport;
  /** Stops all work. Users can resume packs and replays after the next start. */
  close(): Promise<void>;
}

export interface AuditServicesOptions {
  readonly dataDirectory: string;
  readonly storage: Storage;
  readonly team: { readonly records: TeamRecords };
  readonly completions: Completions;
  readonly providers: Providers;
  /** Version of the service. */
  readonly version: string;
  /** Headers for the trace collector. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Has the confirmed origin of the trace collector. */
  readonly keyStore: KeyStore;
  readonly log: Log;
}

export async function createAuditServices(options: AuditServicesOptions): Promise<AuditServices> {
  const { storage, completions, providers, log } = options;
  const { audit, runs, exportRows, windowCallerId } = storage;
  const samples = await createSamples({ store: storage.samples, runs });
  const exports = await createExports({
    dataDirectory: options.dataDirectory,
    databaseFile: storage.databaseFile,
    audit,
    rows: exportRows,
    flush: storage.flush,
    team: options.team.records,
    version: options.version,
    log,
  });
  const replays = createReplays({
    store: storage.replays,
    runs,
    audit,
    team: options.team.records,
    runIds: exportRows.runIds,
    completions,
    providers,
    windowCallerId,
    log,
  });
  const logImports = await createLogImports({
    directory: join(options.dataDirectory, 'incoming-logs'),
    store: storage.imports,
    rules: () => storage.settings.read().recorder.redaction,
    databaseFile: storage.databaseFile,
    hostId: windowCallerId,
    flush: storage.flush,
    log,
  });
  const retention = createRetention({ store: storage.retention, settings: storage.settings, log });
  const { version, environment, keyStore } = options;
  const traceExport = createTraceExport({ ...storage, environment, version, keyStore });
  return {
    exports,
    logImports,
    samples,
    retention,
    replays,
    traceExport,
    close: async () => {
      await Promise.all([exports.close(), logImports.close(), samples.close(), replays.close(), retention.close()]);
      await traceExport.close();
    },
  };
}
