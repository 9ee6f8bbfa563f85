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
    const bytes = files.map((file) => fs.readFileSync(path.join(file.parentPath, file.name)));
    console.log(JSON.stringify(words.filter((word) => bytes.some((each) => each.includes(word)))));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script, directory, ...words]);
  return JSON.parse(stdout) as string[];
}
