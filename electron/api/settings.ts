import {
  createBackup,
  listBackups,
  readHost,
  readSettings,
  restoreBackup,
  updateSettings,
  type HostState,
} from '../../shared/contract/settings.ts';
import type { Storage } from '../storage/storage.ts';
import { implement, type Handler } from './handler.ts';

export function settingsHandlers(storage: Storage, hostState: () => HostState): Handler[] {
  return [
    implement(readSettings, () => storage.settings.read()),
    implement(updateSettings, ({ body }) => storage.settings.update(withoutAbsent(body))),
    implement(readHost, hostState),
    implement(createBackup, () => storage.createBackup()),
    implement(listBackups, () => ({ data: storage.listBackups() })),
    implement(restoreBackup, ({ parameters }) => {
      storage.scheduleRestore(parameters.fileName);
      return { fileName: parameters.fileName };
    }),
  ];
}

function withoutAbsent<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as Value;
}
