import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Which of these words stand anywhere in the bytes of the files of a folder, also in what SQLite no longer reads. It is read in a
 * process of its own: closing a file that this one has open in SQLite would drop SQLite's locks.
 */
export async function wordsInFiles(directory: string, words: readonly string[]): Promise<string[]> {
  const script = `
    const [directory, ...words] = process.argv.slice(1);
    const files = fs.readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    // SQLite and a running host remove files of theirs at any time.
    const readIfThere = (file) => {
      try {
        return fs.readFileSync(file);
      } catch (error) {
        if (error.code === 'ENOENT') return Buffer.alloc(0);
        throw error;
      }
    };
    const bytes = files.map((file) => readIfThere(path.join(file.parentPath, file.name)));
    console.log(JSON.stringify(words.filter((word) => bytes.some((each) => each.includes(word)))));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script, directory, ...words]);
  return JSON.parse(stdout) as string[];
}
