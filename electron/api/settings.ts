import { AppError } from '../../shared/app-error.ts';
import type { RedactionRule } from '../../shared/contract/audit-exports.ts';
import { confirmTraceCollector, readTraceExport } from '../../shared/contract/trace-export.ts';
import { createRedactor } from '../audit/evidence/redaction.ts';
import type { TraceExport } from '../audit/trace-export/create-trace-export.ts';
import {
  createBackup,
  type HostState,
  listBackups,
  readHost,
  readSettings,
  restoreBackup,
  updateSettings,
} from '../../shared/contract/settings.ts';
import type { ApiKeyStore, Storage } from '../storage/storage.ts';
import { type Handler, implement } from './api.ts';
import { readPrivacy } from '../../shared/contract/privacy.ts';
import { contactedHosts, type LocationOptions, storedLocations } from '../privacy.ts';
import { registryAddress } from '../on-device/registry-address.ts';
import type { Providers } from '../providers/create-providers.ts';
import { issueApiKey, listApiKeys, readCredits, revokeApiKey, updateApiKey } from '../../shared/contract/api-keys.ts';
import type { Credits } from '../credits/credits.ts';

export function settingsHandlers(
  storage: Storage,
  hostState: () => HostState,
  traceExport: Omit<TraceExport, 'close'>,
): Handler[] {
  return [
    implement(readSettings, () => storage.settings.read()),
    implement(updateSettings, ({ body }) => {
      if (body.recorder) requireValidPatterns(body.recorder.redaction);
      const address = body.traceExport?.address ?? null;
      if (address !== null && address !== storage.settings.read().traceExport.address) {
        traceExport.confirmEnteredAddress(address);
      }
      return storage.settings.update(withoutAbsent(body));
    }),
    implement(readHost, hostState),
    implement(readTraceExport, traceExport.state),
    implement(confirmTraceCollector, ({ body }) => {
      traceExport.confirm(body.origin);
      return traceExport.state();
    }),
    implement(createBackup, () => storage.createBackup()),
    implement(listBackups, () => ({ data: storage.listBackups() })),
    implement(restoreBackup, ({ parameters }) => {
      storage.scheduleRestore(parameters.fileName);
      return { fileName: parameters.fileName };
    }),
  ];
}

/** Throws 400 for a pattern of the recorder that RE2 can't compile: every call would fail to be recorded. */
function requireValidPatterns(rules: readonly RedactionRule[]): void {
  try {
    createRedactor(rules);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const details = error.details.map(({ field, issue }) => ({
      field: field.replace('rules', 'recorder.redaction'),
      issue,
    }));
    throw new AppError(error.code, error.message.replace('rules', 'recorder.redaction'), { details });
  }
}

function withoutAbsent<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as Value;
}

export interface PrivacyOptions extends Omit<LocationOptions, 'linkedFolders'> {
  readonly providers: Providers;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly linkedFolders: () => string[];
  /** The address of the team database; null for none. */
  readonly team: () => string | null;
  /** The trace collector; null for none. */
  readonly collector: TraceExport['collector'];
}

/** npm can take long to return its registry. Without it, the page shows a general name. */
const maxRegistryMilliseconds = 3_000;

export function privacyHandlers(options: PrivacyOptions): Handler[] {
  const { providers, environment, linkedFolders } = options;
  // Cached, because it starts npm.
  let registry: Promise<string | null> | null = null;
  return [
    implement(readPrivacy, async () => {
      registry ??= registryAddress().catch(() => null);
      const timeUp = new Promise<null>((resolve) => setTimeout(resolve, maxRegistryMilliseconds, null).unref());
      const address = await Promise.race([registry, timeUp]);
      return {
        locations: storedLocations({ ...options, linkedFolders: linkedFolders() }),
        keychain: providers.keychainTitle(),
        hosts: contactedHosts(providers, environment, address, {
          collector: options.collector(),
          team: options.team(),
        }),
      };
    }),
  ];
}

/** The window has no limits. */
const noLimits = { creditLimit: null, remaining: null, requestsPerMinute: null, tokensPerMinute: null };

export function apiKeyHandlers(apiKeys: ApiKeyStore, credits: Credits): Handler[] {
  return [
    implement(listApiKeys, () => ({ data: apiKeys.list() })),
    implement(issueApiKey, ({ body }) => apiKeys.issue(body)),
    implement(updateApiKey, ({ parameters, body }) => apiKeys.update(parameters.id, body)),
    implement(revokeApiKey, ({ parameters }) => apiKeys.revoke(parameters.id)),
    implement(readCredits, ({ caller: { key } }) => {
      if (key === null) return { ...noLimits, consumed: 0 };
      const { creditLimit, requestsPerMinute, tokensPerMinute } = key;
      return { creditLimit, ...credits.use(key), requestsPerMinute, tokensPerMinute };
    }),
  ];
}
