/**
 * Measures a library of 10,000 prompts with 50,000 versions: listing, searching, opening a prompt, and comparing two long versions.
 * Times are from the request to the parsed response in one process, without a socket. `npm run benchmark -- prompts`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost, type Host } from '../electron/create-host.ts';
import { createMemoryKeyStore } from '../electron/key-store/key-store.ts';
import type { VersionContent } from '../shared/prompt-content.ts';
import { diffRows } from '../renderer/components/diff/diff-rows.ts';
import { median, percentile, printReport, row, type Row } from './support/report.ts';
import { createRandom, createWriter } from './support/text-writer.ts';

const promptCount = 10_000;
const versionsEach = 5;
const repetitions = 200;
const importedAtOnce = 500;
const characters = 1_000;

const random = createRandom(11);
const writer = createWriter(random);
const words = (count: number) => writer.remark().slice(0, -1).split(' ').slice(0, count).join(' ');
const areas = ['support', 'legal', 'research', 'engineering', 'translation', 'sales'];
const topics = ['mail', 'calls', 'reports', 'summaries', 'reviews'];
const tags = ['mail', 'short', 'formal', 'draft', 'german', 'checked', 'slow', 'cheap'];

/** One sentence per line, like most prompts. */
function newText(length: number): string {
  const lines: string[] = [];
  for (let written = 0; written < length; written += lines.at(-1)!.length + 1) lines.push(writer.remark());
  return lines.join('\n');
}

/** The same text with one line replaced. */
function editedText(text: string): string {
  const lines = text.split('\n');
  lines[Math.floor(random.next() * lines.length)] = writer.remark();
  return lines.join('\n');
}

function versionOf(promptText: string, note: string): VersionContent {
  return {
    promptText,
    systemMessage: 'You answer briefly and kindly.',
    aiSystem: 'ServiceAi',
    model: 'hl-gpt-4.1-mini',
    configuration: { temperature: 0.2 },
    variables: [{ name: 'customer', description: 'Who asks', defaultValue: null, sampleValue: 'Mara Lindqvist' }],
    note,
  };
}

/** Returns the CPU milliseconds of one version. */
function fill({ prompts }: Host['storage']): number {
  const startedAt = process.cpuUsage();
  for (let start = 0; start < promptCount; start += importedAtOnce) {
    const texts = Array.from({ length: importedAtOnce }, () => newText(characters));
    const made = prompts.createAll(
      texts.map((text, index) => ({
        prompt: {
          name: `${words(3)} ${start + index}`,
          folder: random.next() < 0.1 ? null : `${random.pick(areas)}/${random.pick(topics)}`,
          tags: [...new Set([random.pick(tags), random.pick(tags)])],
          description: words(8),
        },
        version: versionOf(text, 'First'),
      })),
    );
    made.forEach(({ id }, index) => {
      let text = texts[index]!;
      for (let number = 2; number <= versionsEach; number += 1) {
        text = editedText(text);
        prompts.addVersion(id, versionOf(text, words(4)));
      }
    });
  }
  const { user, system } = process.cpuUsage(startedAt);
  return (user + system) / 1000 / (promptCount * versionsEach);
}

interface Times {
  readonly wall: number[];
  readonly cpu: number[];
}

async function timesOf(work: (turn: number) => Promise<unknown> | unknown, turns = repetitions): Promise<Times> {
  const times: Times = { wall: [], cpu: [] };
  for (let turn = 0; turn < turns; turn += 1) {
    const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
    await work(turn);
    times.wall.push(performance.now() - startedAt);
    const { user, system } = process.cpuUsage(cpu);
    times.cpu.push((user + system) / 1000);
  }
  return times;
}

function rowsOf(what: string, { wall, cpu }: Times, max: number): Row[] {
  return [
    row(`${what}: p50`, median(wall), 'ms'),
    row(`${what}: p99`, percentile(wall, 0.99), 'ms', { max }),
    row(`${what}: CPU p99`, percentile(cpu, 0.99), 'ms'),
  ];
}

/** Typical searches: frequent and rare words, parts of words, several words, one and two letters, and missing words. */
function searches(): readonly (readonly [string, readonly string[]])[] {
  const rare = Array.from({ length: 50 }, () => words(1));
  const pairs = Array.from({ length: 50 }, () => `${words(1)} ${random.pick(['mara', 'kindly', 'the', 'would'])}`);
  return [
    ['a word of the language', rare],
    ['two words', pairs],
    ['a word that is everywhere', ['the', 'customer', 'lindqvist', 'temperature', 'there', 'people']],
    ['part of a word', ['ustom', 'indqv', 'rief', 'houg', 'ould']],
    ['one or two letters', ['a', 'e', 'z', 'q', 'th', 'qz', 'zu', '客', '客户', '1']],
    ['what is nowhere', ['zirconium', 'interesting', 'xxxxxxxxxxx', 'there people nowherefound']],
  ];
}

async function main(): Promise<void> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'touchstone-benchmark-'));
  const host = await createHost({
    dataDirectory,
    providerBases: {},
    endpoints: [],
    capabilities: [],
    environment: {},
    keyStore: createMemoryKeyStore(),
    log: () => undefined,
  });
  const ask = async (path: string) => {
    const answer = await host.api.fetch(new Request(`http://window.test${path}`), { access: 'window' });
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    return answer.json();
  };
  const perVersion = fill(host.storage);
  const ids: string[] = [];
  let token: string | null = null;
  const pages = await timesOf(async () => {
    const page = await ask(`/prompts?pageSize=100${token === null ? '' : `&continuationToken=${token}`}`);
    token = page.continuationToken;
    ids.push(...page.data.map(({ id }: { id: string }) => id));
  }, promptCount / 100);
  const found: Row[] = [];
  for (const [what, queries] of searches()) {
    const times = await timesOf(
      (turn) => ask(`/prompts?pageSize=100&search=${encodeURIComponent(queries[turn % queries.length]!)}`),
      Math.max(queries.length * 3, 60),
    );
    found.push(...rowsOf(`search, ${what}`, times, 50));
  }
  const inFolder = await timesOf(() => ask('/prompts?pageSize=100&folder=support&tags=mail,short&search=kindly'));
  const outline = await timesOf(() => ask('/prompts/outline'), 50);
  const opened = await timesOf(async (turn) => {
    const id = ids[(turn * 7919) % ids.length]!;
    const [prompt] = await Promise.all([ask(`/prompts/${id}`), ask(`/prompts/${id}/versions?pageSize=30`)]);
    await ask(`/prompts/${id}/versions/${prompt.latestVersionId}`);
  });
  const long = newText(100_000);
  const edited = Array.from({ length: 200 }).reduce<string>((text) => editedText(text), long);
  const other = newText(100_000);
  printReport('prompts', [
    row('prompts', ids.length, '', { min: promptCount }),
    row('CPU to keep and index a version', perVersion, 'ms'),
    ...rowsOf('list, a page of 100', pages, 50),
    ...found,
    ...rowsOf('search in a folder with two tags', inFolder, 50),
    ...rowsOf('folders and tags', outline, 50),
    ...rowsOf('open: prompt, versions, newest version', opened, 50),
    ...rowsOf('diff of 100 KB, 200 lines changed', await timesOf(() => diffRows(long, edited), 20), 200),
    ...rowsOf('diff of 100 KB, nothing in common', await timesOf(() => diffRows(long, other), 20), 200),
  ]);
  await host.close();
  rmSync(dataDirectory, { recursive: true, force: true });
}

await main();
