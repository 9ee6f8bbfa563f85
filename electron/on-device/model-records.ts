import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const fileName = 'models.json';

/** A model that the person brought. */
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

/** A file that was checked, with what tells whether it is still the same. */
const checkedFile = z.object({ bytes: z.int(), modifiedMs: z.number(), sha256: z.string() });
export type CheckedFile = z.infer<typeof checkedFile>;

const content = z.object({
  added: z.array(addedModel),
  checked: z.record(z.string(), checkedFile),
  /** By file name; absent in older versions. */
  contextTokens: z.record(z.string(), z.int()).default({}),
});

/** What is remembered in the models folder, beside the models. */
export interface ModelRecords {
  added(): readonly AddedModel[];
  add(model: AddedModel): void;
  forget(id: string): void;
  /** Null for a file that was never checked. */
  checked(fileName: string): CheckedFile | null;
  setChecked(fileName: string, file: CheckedFile | null): void;
  /** The context size that the file was last loaded with; null before. */
  contextTokens(fileName: string): number | null;
  setContextTokens(fileName: string, contextTokens: number | null): void;
}

function read(path: string): z.infer<typeof content> {
  try {
    return content.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    // Nothing is lost but the list: files are checked again, and what the person added can be added again.
    return { added: [], checked: {}, contextTokens: {} };
  }
}

/** Opens the records of a models folder, which is made if it is not there. */
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
