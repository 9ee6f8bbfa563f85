/**
 * Indexes a long text of everyday English in the headless host and measures passages per second, processor time, memory, the delay
 * of other calls, and how fast Stop and Resume are; also the rate with unknown words, which have twice as many tokens. `npm run
 * benchmark -- indexing [PASSAGES]`, about 3,000 by default.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SourceDetail } from '../shared/contract/knowledge-window.ts';
import type { Source } from '../shared/contract/dataspaces.ts';
import { read, startHost, type RunningHost } from '../tests/support/running-host.ts';
import { everydayParagraph } from './support/everyday-text.ts';
import { cpuSeconds } from './support/processes.ts';
import { percentile, printReport, row } from './support/report.ts';
import { createRandom, createWriter } from './support/text-writer.ts';

/** Approximate characters that a passage adds to a text. */
const charactersOfPassage = 540;

/** Milliseconds between two polls of the source: polling takes processor time as well. */
const pollInterval = 100;

function longText(characters: number, writeParagraph: () => string): string {
  const paragraphs: string[] = [];
  for (let length = 0; length < characters;) {
    const paragraph = paragraphs.length % 12 === 0 ? `## Part ${paragraphs.length}` : writeParagraph();
    paragraphs.push(paragraph);
    length += paragraph.length + 2;
  }
  return paragraphs.join('\n\n');
}

async function add(host: RunningHost, text: string): Promise<string> {
  const form = new FormData();
  form.append('name', 'Long');
  form.append('file', new File([text], 'long.md'));
  return (await read<Source>(host, '/sources', { method: 'POST', body: form })).id;
}

interface Watched {
  readonly last: SourceDetail;
  /** Milliseconds of each poll. */
  readonly waits: number[];
  readonly residentMegabytes: number;
}

const residentMegabytes = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Polls the source until it reaches a state. */
async function watch(host: RunningHost, id: string, isReached: (source: SourceDetail) => boolean): Promise<Watched> {
  const waits: number[] = [];
  let max = 0;
  for (;;) {
    const startedAt = performance.now();
    const last = await read<SourceDetail>(host, `/window/knowledge/sources/${id}`);
    waits.push(performance.now() - startedAt);
    max = Math.max(max, residentMegabytes(host.child.pid!));
    if (isReached(last)) return { last, waits, residentMegabytes: max };
    await delay(pollInterval);
  }
}

const isDone = ({ status }: SourceDetail) => status !== 'Processing';

/** Indexes a new text. */
async function index(host: RunningHost, text: string) {
  const startedAt = performance.now();
  const id = await add(host, text);
  const whole = await watch(host, id, isDone);
  if (whole.last.status !== 'Ready') throw new Error(`It failed: ${whole.last.failureReason}`);
  return { id, whole, passages: whole.last.passages!, seconds: (performance.now() - startedAt) / 1000 };
}

async function measure(host: RunningHost, text: string) {
  const pid = host.child.pid!;
  // Load the model before the measurement.
  await watch(host, await add(host, 'A first text.'), isDone);
  const before = { cpu: cpuSeconds(pid), resident: residentMegabytes(pid) };
  const { id, passages, seconds, whole } = await index(host, text);
  const cpu = cpuSeconds(pid) - before.cpu;

  await read(host, `/sources/${id}/reindex`, { method: 'POST' });
  const isHalfway = ({ progress }: SourceDetail) => (progress?.passagesDone ?? 0) >= passages / 2;
  const { last } = await watch(host, id, isHalfway);
  const stopAt = performance.now();
  await read(host, `/window/knowledge/sources/${id}/stop`, { method: 'POST' });
  const stopped = performance.now() - stopAt;
  await read(host, `/sources/${id}/reindex`, { method: 'POST' });
  const resumed = await watch(host, id, ({ progress }) => progress?.stage === 'embedding');
  const passagesBefore = resumed.last.progress?.passagesDone ?? 0;
  await watch(host, id, isDone);
  return [
    row('passages', passages, ''),
    row('passages a second, on the clock', passages / seconds, '/s', { min: 60 }),
    row('passages a second of processor time', passages / cpu, '/s'),
    row('characters a second, on the clock', text.length / seconds, '/s'),
    row('memory above that at rest, most', whole.residentMegabytes - before.resident, 'MB', { max: 600 }),
    row('another call meanwhile, median', percentile(whole.waits, 0.5), 'ms'),
    row('another call meanwhile, p99', percentile(whole.waits, 0.99), 'ms', { max: 100 }),
    row('Stop', stopped, 'ms', { max: 1000 }),
    row(
      'share of what was done before Stop that need not be done again',
      passagesBefore / last.progress!.passagesDone!,
      '',
      {
        min: 1,
      },
    ),
  ];
}

/** The highest cost of a passage. */
async function measureUnknownWords(host: RunningHost, text: string) {
  const { passages, seconds } = await index(host, text);
  return [row('passages a second of words in no vocabulary', passages / seconds, '/s')];
}

const [passages = 3000] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), 'touchstone-indexing-'));
const host = await startHost(directory);
try {
  const [forEveryday, writer] = [createRandom(7), createWriter(createRandom(7))];
  const everyday = longText(passages * charactersOfPassage, () => everydayParagraph(forEveryday));
  const madeUp = longText((passages / 4) * charactersOfPassage, writer.answer);
  printReport('indexing', [...(await measure(host, everyday)), ...(await measureUnknownWords(host, madeUp))]);
} finally {
  const ended = once(host.child, 'close');
  host.child.kill('SIGTERM');
  await ended;
  rmSync(directory, { recursive: true, force: true });
}
