import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DataspaceSummary, SourceDetail, SourcePassage } from '../../shared/contract/knowledge-window.ts';
import { read, startHost, type RunningHost } from './running-host.ts';

export interface KillsOptions {
  readonly directory: string;
  readonly files: number;
  readonly kills: number;
  /** Milliseconds from the moment the host listens to its end, for each kill. */
  readonly lifetime: () => number;
}

export interface KillsReport {
  /** Files of which the caller was told that they are kept. */
  readonly answered: number;
  readonly ready: number;
  readonly failed: number;
  readonly passages: number;
  /** Everything that should not be: a file that is missing, twice, half, or failed without a reason. */
  readonly problems: readonly string[];
}

/** A word that is in one paragraph of one file and nowhere else. */
const mark = (file: number, paragraph: number) => `mark${file}p${paragraph}`;
const paragraphsOf = (file: number) => 1 + (file % 7);
const isBroken = (file: number) => file % 20 === 19;

/** Most are notes of a few paragraphs; one in twenty says that it is a PDF and is none. */
function contentOf(file: number): string {
  if (isBroken(file)) return `%PDF-1.7\n${'broken '.repeat(50)}`;
  return Array.from({ length: paragraphsOf(file) }, (_, paragraph) => {
    const words = Array.from({ length: 60 }, (__, word) => `word${(file * 31 + paragraph * 17 + word * 7) % 997}`);
    return `# Part ${paragraph}\n\n${mark(file, paragraph)} ${words.join(' ')}.`;
  }).join('\n\n');
}

async function upload(host: RunningHost, file: number): Promise<boolean> {
  const form = new FormData();
  form.append('name', `File ${file}`);
  form.append('file', new File([contentOf(file)], `file-${file}.md`));
  const response = await host.fetch('/sources', { method: 'POST', body: form }).catch(() => null);
  if (response === null) return false;
  if (response.status !== 201) throw new Error(`A file was refused: ${await response.text()}`);
  // Cut off here, the answer was given and not received.
  return await response.json().then(
    () => true,
    () => false,
  );
}

/** Sends files that were not sent yet, two at a time, until so many are sent or the host is gone. */
async function uploadSome(host: RunningHost, waiting: number[], max: number, answered: Set<number>): Promise<void> {
  let left = max;
  const next = () => (left-- > 0 ? waiting.shift() : undefined);
  const lane = async (): Promise<void> => {
    for (let file = next(); file !== undefined; file = next()) {
      if (await upload(host, file)) answered.add(file);
      else return;
    }
  };
  await Promise.all([lane(), lane()]);
}

async function everySource(host: RunningHost, dataspaceId: string): Promise<SourceDetail[]> {
  const sources: SourceDetail[] = [];
  for (let total = 1; sources.length < total;) {
    const path = `/window/knowledge/dataspaces/${dataspaceId}/sources?offset=${sources.length}`;
    const page = await read<{ data: SourceDetail[]; total: number }>(host, path);
    sources.push(...page.data);
    total = page.total;
  }
  return sources;
}

/** What is wrong with a source that says it is ready: its passages are whole, in order, and each is found once. */
async function problemsOf(host: RunningHost, source: SourceDetail, file: number): Promise<string[]> {
  const { data, total } = await read<{ data: SourcePassage[]; total: number }>(
    host,
    `/window/knowledge/sources/${source.id}/passages?offset=0`,
  );
  const { text } = await read<{ text: string }>(host, `/window/knowledge/sources/${source.id}/text?end=100000`);
  const marks = Array.from({ length: paragraphsOf(file) }, (_, paragraph) => mark(file, paragraph));
  const isInOrder = data.every(({ position }, offset) => position === offset);
  const isExact = data.every((passage) => passage.text === text.slice(passage.start, passage.end));
  const isWhole = marks.every((word) => data.some((passage) => passage.text.includes(word)));
  const last = marks.at(-1)!;
  const body = JSON.stringify({ query: last, limit: 100 });
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  const found = await read<{ data: { sourceId: string; text: string }[] }>(
    host,
    `/dataspaces/${source.dataspaceId}/search`,
    init,
  );
  const expected = data.filter((passage) => passage.text.includes(last)).length;
  const hits = found.data.filter((hit) => hit.sourceId === source.id && hit.text.includes(last)).length;
  const checks = {
    'counts its passages wrongly': total === data.length && total > 0,
    'has passages out of order': isInOrder,
    'has passages that are not its text': isExact,
    'is half': isWhole,
    [`is found ${hits} times instead of ${expected}`]: hits === expected,
  };
  return Object.entries(checks).flatMap(([problem, isFine]) => (isFine ? [] : [`File ${file} ${problem}`]));
}

async function judge(host: RunningHost, directory: string, answered: ReadonlySet<number>): Promise<KillsReport> {
  const { data } = await read<{ data: DataspaceSummary[] }>(host, '/window/knowledge/dataspaces');
  const problems: string[] = data.length === 1 ? [] : [`There are ${data.length} dataspaces`];
  const sources = await everySource(host, data[0]!.id);
  const byFile = Map.groupBy(sources, ({ name }) => Number(name.slice('File '.length)));
  for (const file of answered) if (!byFile.has(file)) problems.push(`File ${file} is missing`);
  for (const [file, [source, ...others]] of byFile) {
    if (others.length > 0) problems.push(`File ${file} is there ${others.length + 1} times`);
    const expected = isBroken(file) ? 'Failed' : 'Ready';
    if (source!.status !== expected) problems.push(`File ${file} is ${source!.status}: ${source!.failureReason}`);
    if (source!.status === 'Failed' && !source!.failureReason) problems.push(`File ${file} failed without a reason`);
    if (source!.status === 'Ready') problems.push(...(await problemsOf(host, source!, file)));
  }
  const folders = readdirSync(join(directory, 'sources')).filter((name) => name !== 'incoming');
  const known = new Set(sources.map(({ id }) => id));
  problems.push(...folders.filter((name) => !known.has(name)).map((name) => `The folder ${name} belongs to no source`));
  return {
    answered: answered.size,
    ready: sources.filter(({ status }) => status === 'Ready').length,
    failed: sources.filter(({ status }) => status === 'Failed').length,
    passages: sources.reduce((sum, { passages }) => sum + (passages ?? 0), 0),
    problems,
  };
}

/** Kills the host again and again while it takes in and indexes files, then lets it finish and looks at every file. */
export async function killWhileIndexing({ directory, files, kills, lifetime }: KillsOptions): Promise<KillsReport> {
  const waiting = Array.from({ length: files }, (_, file) => file);
  const answered = new Set<number>();
  for (let round = 0; round < kills; round += 1) {
    const host = await startHost(directory);
    const ended = once(host.child, 'close');
    const timer = setTimeout(() => host.child.kill('SIGKILL'), lifetime());
    // What is left in the last rounds is only indexed.
    await uploadSome(host, waiting, Math.ceil((2 * files) / kills), answered);
    await ended;
    clearTimeout(timer);
  }
  const host = await startHost(directory);
  try {
    await uploadSome(host, waiting, files, answered);
    for (;;) {
      const { data } = await read<{ data: DataspaceSummary[] }>(host, '/window/knowledge/dataspaces');
      if (data.every(({ processing }) => processing === 0)) return await judge(host, directory, answered);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } finally {
    const ended = once(host.child, 'close');
    host.child.kill('SIGTERM');
    await ended;
  }
}
