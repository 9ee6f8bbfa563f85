/**
 * How fast files are parsed and chunked, and how much memory it takes: one file of each format, 50 MB or the given size, each in a
 * separate process. `npm run benchmark -- parsing [MEGABYTES]`. Figures are of processor time, so that other work on the
 * machine matters less.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import yazl from 'yazl';
import { detectMediaType } from '../electron/knowledge/parsing/detect-media-type.ts';
import { readDocument } from '../electron/knowledge/parsing/read-document.ts';
import { createRandom } from './support/text-writer.ts';
import { printReport, row, type Row } from './support/report.ts';

const words =
  'the stone gold streak acid needle of and is on with dark pale warm office coin alloy parts a in told by'.split(' ');
const random = createRandom(7);
const sentence = () => `The ${Array.from({ length: 14 }, () => random.pick(words)).join(' ')}.`;
const sentences = Array.from({ length: 2000 }, sentence);
const paragraph = () => Array.from({ length: 4 }, () => random.pick(sentences)).join(' ');

/** The start, the repeated part and the end of each format. */
const formats: Readonly<Record<string, readonly [string, (index: number) => string, string]>> = {
  'paragraphs.txt': ['', () => `${paragraph()}\n\n`, ''],
  'one-line.txt': ['', () => `${random.pick(sentences)} `, ''],
  'one-word.txt': ['', () => 'x'.repeat(1000), ''],
  'book.md': ['# Book\n\n', (index) => `## Chapter ${index}\n\n${paragraph()}\n\n- ${sentence()}\n\n`, ''],
  'book.html': ['<title>Book</title>', (index) => `<h2>Chapter ${index}</h2><p>${paragraph()}</p>\n`, ''],
  'rows.csv': ['no,text,price\n', (index) => `${index},"${random.pick(sentences)}",${index % 97}.50\n`, ''],
  'records.jsonl': ['', (no) => `${JSON.stringify({ no, text: random.pick(sentences), inner: { a: 1 } })}\n`, ''],
};

function writeFile(path: string, bytes: number, [head, part, tail]: (typeof formats)[string]): void {
  const file = openSync(path, 'w');
  let written = writeSync(file, head);
  for (let index = 0; written < bytes;) {
    let chunk = '';
    while (chunk.length < 500_000) chunk += part((index += 1));
    written += writeSync(file, chunk);
  }
  writeSync(file, tail);
}

async function writeDocx(path: string, bytes: number): Promise<void> {
  let body = '<w:document><w:body>';
  const run = () => `<w:p><w:r><w:rPr><w:lang w:val="en"/></w:rPr><w:t>${paragraph()}</w:t></w:r></w:p>`;
  while (body.length < bytes) body += run();
  const archive = new yazl.ZipFile();
  archive.addBuffer(Buffer.from(`${body}</w:body></w:document>`), 'word/document.xml');
  archive.end();
  const file = openSync(path, 'w');
  for await (const chunk of archive.outputStream) writeSync(file, chunk as Buffer);
}

/** Reads one file and prints the measurements; this runs in the separate process. */
async function measureFile(path: string): Promise<void> {
  const mediaType = await detectMediaType({ path, fileName: path }, { signal: new AbortController().signal });
  const before = process.cpuUsage();
  const { passages, text } = await readDocument(path, mediaType, () => {});
  const { user, system } = process.cpuUsage(before);
  const seconds = (user + system) / 1e6;
  const peak = process.resourceUsage().maxRSS / 1024;
  console.log(JSON.stringify({ seconds, passages: passages.length, characters: text.length, peak }));
}

interface Measured {
  readonly seconds: number;
  readonly passages: number;
  readonly characters: number;
  readonly peak: number;
}

function measureApart(path: string, name: string): Row[] {
  const { stdout, stderr } = spawnSync(process.execPath, [
    '--max-old-space-size=614',
    import.meta.filename,
    '--read',
    path,
  ]);
  if (stdout.length === 0) throw new Error(`${name}: ${stderr.toString()}`);
  const { seconds, passages, peak } = JSON.parse(stdout.toString()) as Measured;
  return [
    row(`${name}, read`, statSync(path).size / 1e6 / seconds, 'MB/s'),
    row(`${name}, chunked`, passages / seconds, 'passages/s'),
    row(`${name}, memory of the process`, peak, 'MB', { max: 1024 }),
  ];
}

async function measureAll(megabytes: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-parsing-'));
  const rows: Row[] = [];
  for (const [name, format] of Object.entries(formats)) {
    const path = join(folder, name);
    writeFile(path, megabytes * 1e6, format);
    rows.push(...measureApart(path, name));
    rmSync(path);
  }
  await writeDocx(join(folder, 'letter.docx'), megabytes * 1e6);
  rows.push(...measureApart(join(folder, 'letter.docx'), 'letter.docx (packed size)'));
  rows.push(
    ...measureApart(
      join(import.meta.dirname, '../tests/fixtures/knowledge/report.pdf'),
      'report.pdf (3 pages, PDF.js not yet loaded)',
    ),
  );
  rmSync(folder, { recursive: true });
  printReport('parsing', rows);
}

const [first, path = ''] = process.argv.slice(2);
if (first === '--read') await measureFile(path);
else await measureAll(Number(first ?? 50));
