import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Address that previews opened files in the window. Nothing is stored before the user has seen it. */
export const importAddress = '/commands/prompts.import';

/** For more files, users can import a folder. */
const maxOpenedFiles = 100;

function pathOf(parameter: string, folder: string): string | null {
  if (!/^file:/i.test(parameter)) return resolve(folder, parameter);
  try {
    return fileURLToPath(parameter);
  } catch {
    // The address of another machine, or one with an escaped slash.
    return null;
  }
}

/** The prompt files on a command line. Some file managers pass `file:` addresses instead of paths. */
export function promptFilesIn(parameters: readonly string[], folder: string): string[] {
  return parameters
    .filter((parameter) => !parameter.startsWith('-') && parameter.toLowerCase().endsWith('.prompt'))
    .map((parameter) => pathOf(parameter, folder))
    .filter((path) => path !== null);
}

const causes: Readonly<Record<string, string>> = {
  ENOENT: "The file doesn't exist.",
  ENOTDIR: "The file doesn't exist.",
  EACCES: "You don't have permission to read it.",
  EPERM: "You don't have permission to read it.",
};

class UnreadableFile extends Error {}

/** Reads at most one byte more than `maxBytes`: a file can grow, and some report no size. */
async function readUpTo(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let left = maxBytes + 1; left > 0;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(left, 65_536)));
    if (bytesRead === 0) break;
    parts.push(buffer.subarray(0, bytesRead));
    left -= bytesRead;
  }
  return Buffer.concat(parts);
}

/** `leftBytes` are what other files have left of `maxBytes`. */
async function readFile(path: string, leftBytes: number, maxBytes: number): Promise<Buffer> {
  // Without O_NONBLOCK a named pipe would wait for its other end forever. Windows has neither.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const state = await handle.stat();
    if (state.isDirectory()) throw new UnreadableFile("It's a folder. Link or import it in Prompts.");
    if (!state.isFile()) throw new UnreadableFile("It isn't a regular file.");
    const maxMegabytes = maxBytes / 1_000_000;
    if (state.size > maxBytes) throw new UnreadableFile(`It's larger than ${maxMegabytes} MB.`);
    const content = await readUpTo(handle, leftBytes);
    if (content.length <= leftBytes) return content;
    throw new UnreadableFile(`The opened files exceed ${maxMegabytes} MB in total. Open fewer at a time.`);
  } finally {
    await handle.close();
  }
}

function describeProblem(path: string, error: unknown): string {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  const cause = error instanceof UnreadableFile ? error.message : (causes[code] ?? `Reading it failed (${code}).`);
  return `Couldn't open "${basename(path)}". ${cause}`;
}

interface OpenedFile {
  readonly name: string;
  readonly base64: string;
}

/** Files that were opened with this application and not yet requested by the window. Only their paths are in memory. */
export interface OpenedFiles {
  /** Whether there were any. */
  add(paths: readonly string[]): boolean;
  /** Reads and removes them. Files beyond `maxBytes` in total are problems. */
  take(maxBytes: number): Promise<{ files: OpenedFile[]; problems: string[] }>;
}

export function createOpenedFiles(): OpenedFiles {
  let pending = new Set<string>();
  let isTooMany = false;

  return {
    add(paths) {
      for (const path of paths) {
        if (pending.size < maxOpenedFiles) pending.add(path);
        else isTooMany = true;
      }
      return paths.length > 0;
    },
    async take(maxBytes) {
      const paths = pending;
      const problems = isTooMany ? [`Too many files. Open up to ${maxOpenedFiles} at a time.`] : [];
      pending = new Set();
      isTooMany = false;
      const files: OpenedFile[] = [];
      let leftBytes = maxBytes;
      for (const path of paths) {
        try {
          const content = await readFile(path, leftBytes, maxBytes);
          leftBytes -= content.length;
          files.push({ name: basename(path), base64: content.toString('base64') });
        } catch (error) {
          problems.push(describeProblem(path, error));
        }
      }
      return { files, problems };
    },
  };
}
