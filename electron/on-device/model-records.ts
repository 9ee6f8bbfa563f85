import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const fileName = 'models.json';

/** A model that the user added. */
const addedModel = z.object({
  id: z.string(),
  title: z.string(),
  fileName: z.string(),
  source: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('file'), path: z.string() }),
    z.object({ kind: z.literal('hugging-face'), address: z.string() }),
  ]),
});
export type AddedModel = z.infer<typeof addedModel>;

/** A checked file, with the metadata that detects a change. */
const checkedFile = z.object({ bytes: z.int(), modifiedMs: z.number(), sha256: z.string() });
export type CheckedFile = z.infer<typeof checkedFile>;

const content = z.object({
  added: z.array(addedModel),
  checked: z.record(z.string(), checkedFile),
  /** By file name; absent in older versions. */
  contextTokens: z.record(z.string(), z.int()).default({}),
});

/** The records in the models folder, beside the models. */
export interface ModelRecords {
  added(): readonly AddedModel[];
  add(model: AddedModel): void;
  forget(id: string): void;
  /** Null for an unchecked file. */
  checked(fileName: string): CheckedFile | null;
  setChecked(fileName: string, file: CheckedFile | null): void;
  /** The context size when the file was last loaded; null if it never was. */
  contextTokens(fileName: string): number | null;
  setContextTokens(fileName: string, contextTokens: number | null): void;
}

function read(path: string): z.infer<typeof content> {
  try {
    return content.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    // Only the list is lost: files are checked again, and the user can add models again.
    return { added: [], checked: {}, contextTokens: {} };
  }
}

/** Opens the records of a models folder, which is created if missing. */
export function openModelRecords(directory: string): ModelRecords {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, fileName);
  let state = read(path);
  const write = (next: typeof state) => {
    state = next;
    writeFileSync(`${path}.${process.pid}.partial`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${path}.${process.pid}.partial`, path);
  };
  return {
    added: () => state.added,
    add: (model) => write({ ...state, added: [...state.added, model] }),
    forget: (id) => write({ ...state, added: state.added.filter((model) => model.id !== id) }),
    checked: (name) => state.checked[name] ?? null,
    setChecked(name, file) {
      const { [name]: _, ...others } = state.checked;
      write({ ...state, checked: file ? { ...others, [name]: file } : others });
    },
    contextTokens: (name) => state.contextTokens[name] ?? null,
    setContextTokens(name, tokens) {
      const { [name]: _, ...others } = state.contextTokens;
      write({ ...state, contextTokens: tokens === null ? others : { ...others, [name]: tokens } });
    },
  };
}
