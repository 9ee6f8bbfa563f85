import { z } from 'zod';
import { replacementOf } from '../../shared/contract/audit-exports.ts';
import { defaultSettings, settings as settingsSchema, type Settings } from '../../shared/contract/settings.ts';
import type { Metadata } from './queries.ts';
import type { SettingsStore } from './storage.ts';

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The valid parts of a stored value, and the defaults of the others. */
function salvage(schema: z.ZodObject, stored: unknown, defaults: Record<string, unknown>): Record<string, unknown> {
  const values = isRecord(stored) ? stored : {};
  return Object.fromEntries(
    Object.entries(schema.shape).map(([name, part]) => {
      const fallback = defaults[name];
      if (part instanceof z.ZodObject && isRecord(fallback)) return [name, salvage(part, values[name], fallback)];
      const checked = z.safeParse(part, values[name]);
      return [name, checked.success ? checked.data : fallback];
    }),
  );
}

function parseStored(json: string | null): unknown {
  try {
    return json === null ? null : JSON.parse(json);
  } catch {
    return null;
  }
}

/** All readers share the settings, so none of them may change the object. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

const maxRedactionMarks = 200;

/** The newest texts that earlier rules left, so that calls recorded with them keep their marks. */
function redactionMarks({ recorder, redactionMarks: known }: Settings, next: Settings): string[] {
  const on = new Set(next.recorder.redaction.map(replacementOf));
  const marks = [...known, ...recorder.redaction.map(replacementOf)];
  return [...new Set(marks.filter((mark) => mark !== '' && !on.has(mark)))].slice(-maxRedactionMarks);
}

/** Settings are in memory and in one row, so reading them is cheap. */
export function createSettingsStore(metadata: Metadata): SettingsStore {
  const listeners = new Set<(settings: Settings) => void>();
  let current = frozen(
    salvage(settingsSchema, parseStored(metadata.read('settings')), structuredClone(defaultSettings)) as Settings,
  );

  return {
    read: () => current,
    update(change) {
      const present = Object.entries(change).filter(([, value]) => value !== undefined);
      const changed = settingsSchema.parse({ ...current, ...Object.fromEntries(present) });
      const next = frozen({ ...changed, redactionMarks: redactionMarks(current, changed) });
      metadata.write('settings', JSON.stringify(next));
      current = next;
      for (const listener of listeners) listener(next);
      return next;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
