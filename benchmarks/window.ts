/**
 * The window in Chromium while answers stream into it, beside a page that only appends their text, in turn and in the same run: time of
 * the main thread and frames. Then ten streams side by side and six of plain text, the time from Run to the request at the provider, and
 * the bytes before the first paint. `npm run benchmark -- window`; `--rounds N` (2 unless given), `--kind mixed` for some kinds of text
 * only, `--part streams` for some parts only, `--seconds N` for shorter answers, `--profile FILE` writes a profile of the newest answer.
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Browser, chromium, type Page } from '@playwright/test';
import { obstacleTo } from '../scripts/suite-needs.ts';
import { startHeadlessHost } from '../tests/e2e/browser/playground-host.ts';
import { PlaygroundPage } from '../tests/e2e/browser/playground-window.ts';
import { readFirstPaint } from './support/first-paint.ts';
import { browserTracer, longestTask } from './audit-window/trace.ts';
import { median, percentile, printReport, rounded, row, type Row } from './support/report.ts';
import { measureRunLatency } from './support/run-latency.ts';
import { measureStream, type Streamed } from './window/measure.ts';
import { modelName, startPacedProvider } from './window/paced-provider.ts';
import { kinds, type TextKind } from './window/texts.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '2' },
    kind: { type: 'string', multiple: true, default: [...kinds] },
    seconds: { type: 'string', default: '12' },
    part: { type: 'string', multiple: true, default: ['streams', 'tasks', 'ten', 'run', 'paint'] },
    profile: { type: 'string' },
  },
});
const tokensPerSecond = 2500;
const length = Number(values.seconds) * tokensPerSecond * 4;
const chosen = kinds.filter((kind) => values.kind.includes(kind));
const streamModel = (kind: TextKind) => modelName(kind, tokensPerSecond, length);
/** As fast as a fast model, and long enough to start ten of them. */
const besideModel = modelName('mixed', 250, 90_000);
const quickModel = modelName('mixed', 100_000, 400);

const raw: Record<string, number[]> = {};

function keepRaw(what: string, streams: readonly Streamed[]): void {
  for (const figure of Object.keys(streams[0]!) as (keyof Streamed)[])
    raw[`${what}: ${figure}`] = rounded(streams.map((each) => each[figure]));
}

await using stack = new AsyncDisposableStack();

async function signIn(browser: Browser, windowUrl: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(windowUrl);
  await page.waitForURL(({ search }) => search === '');
  return page;
}

const provider = await startPacedProvider([...chosen.map(streamModel), besideModel, quickModel]);
stack.defer(() => provider.close());

async function openPlayground(page: Page, model: string): Promise<PlaygroundPage> {
  const playground = new PlaygroundPage(page);
  await playground.prompt.waitFor();
  await playground.writePrompt('Where is my parcel?');
  await playground.chooseModel(model);
  return playground;
}

async function profiled(page: Page, work: () => Promise<Streamed>): Promise<Streamed> {
  const file = values.profile;
  if (file === undefined) return work();
  const session = await page.context().newCDPSession(page);
  await session.send('Profiler.enable');
  await session.send('Profiler.start');
  const measured = await work();
  writeFileSync(file, JSON.stringify((await session.send('Profiler.stop')).profile));
  return measured;
}

interface Compared {
  readonly window: Streamed[];
  readonly plain: Streamed[];
  /** Milliseconds of processor time, in a round of its own, because tracing takes time too. */
  longestTaskMs: number | null;
}

/** One kind of text in the window and as plain text, in turn. */
async function compare(browser: Browser, page: Page, kind: TextKind): Promise<Compared> {
  const model = streamModel(kind);
  const playground = await openPlayground(page, model);
  const measured: Compared = { window: [], plain: [], longestTaskMs: null };
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const ended = provider.sent(1);
    measured.window.push(await profiled(page, () => measureStream(page, () => playground.run(), ended)));
    const plain = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await plain.goto(`${provider.address}/plain`);
    const plainEnded = provider.sent(1);
    const start = () => plain.evaluate(`void run(${JSON.stringify(model)})`);
    measured.plain.push(await measureStream(plain, start, plainEnded));
    await plain.close();
  }
  if (values.part.includes('tasks')) {
    const tracer = browserTracer(browser, page);
    const ended = provider.sent(1);
    await tracer.start();
    await playground.run();
    await ended;
    measured.longestTaskMs = longestTask(await tracer.stop());
  }
  return measured;
}

function compareRows(kind: TextKind, { window, plain, longestTaskMs }: Compared): Row[] {
  const rows: Row[] = [];
  const task = `${kind}, window: processor time of the longest task`;
  if (longestTaskMs !== null) rows.push(row(task, longestTaskMs, 'ms', { max: 50 }));
  const of = (streams: readonly Streamed[], name: keyof Streamed) => median(streams.map((each) => each[name]));
  const ratios = window.map(({ mainMs }, round) => mainMs / plain[round]!.mainMs);
  rows.push(row(`${kind}: main-thread time, window to plain text`, median(ratios), 'x', { max: 3 }));
  for (const [round, { mainMs }] of window.entries()) {
    rows.push(
      row(`${kind}, window, round ${round + 1}: main-thread time`, mainMs, 'ms'),
      row(`${kind}, plain text, round ${round + 1}: main-thread time`, plain[round]!.mainMs, 'ms'),
    );
  }
  for (const [name, streams] of [
    ['window', window],
    ['plain text', plain],
  ] as const) {
    keepRaw(`${kind}, ${name}`, streams);
    const share = of(streams, 'mainMs') / of(streams, 'seconds') / 10;
    rows.push(
      row(`${kind}, ${name}: share of the main thread`, share, '%'),
      row(`${kind}, ${name}: script`, of(streams, 'scriptMs'), 'ms'),
      row(`${kind}, ${name}: style`, of(streams, 'styleMs'), 'ms'),
      row(`${kind}, ${name}: layout`, of(streams, 'layoutMs'), 'ms'),
      row(`${kind}, ${name}: frames a second`, of(streams, 'framesPerSecond'), '/s'),
      row(`${kind}, ${name}: slowest frame`, of(streams, 'slowestFrameMs'), 'ms'),
      row(`${kind}, ${name}: longest task over 50 ms`, of(streams, 'longestTaskMs'), 'ms'),
    );
    const long = of(streams, 'framesOver50');
    rows.push(row(`${kind}, ${name}: frames over 50 ms`, long, '', name === 'window' ? { max: 0 } : undefined));
  }
  return rows;
}

/** A new prompt with answers of several models beside each other. */
async function openAnswers(page: Page, count: number): Promise<PlaygroundPage> {
  await page.evaluate(() => (location.hash = '/commands/playground.new'));
  const playground = await openPlayground(page, besideModel);
  const picker = page.getByRole('dialog', { name: 'Choose model' });
  for (let column = 1; column < count; column += 1) {
    await page.keyboard.press('Control+Shift+l');
    await picker.getByRole('combobox', { name: 'Search models' }).fill(besideModel);
    await picker.locator('[aria-selected=true]').filter({ hasText: besideModel }).waitFor();
    await page.keyboard.press('Enter');
    await picker.waitFor({ state: 'hidden' });
  }
  return playground;
}

/** A browser opens so many connections to one address. */
const plainStreams = 6;

/** What the machine can do: as many streams as a browser opens, whose texts a page only appends. */
async function measurePlainStreams(browser: Browser): Promise<Streamed> {
  const plain = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await plain.goto(`${provider.address}/plain`);
  const start = () => plain.evaluate(`void ${`run(${JSON.stringify(besideModel)}),`.repeat(plainStreams)} 0`);
  const measured = await measureStream(plain, start, delay(10_000));
  await plain.close();
  return measured;
}

/** Four answers beside each other, as many as the playground shows, while six more stream into other prompts. */
async function measureTen(browser: Browser, page: Page): Promise<Row[]> {
  const plain = await measurePlainStreams(browser);
  for (const count of [2, 4]) await (await openAnswers(page, count)).run();
  const playground = await openAnswers(page, 4);
  const measured = await measureStream(page, () => playground.run(), delay(10_000));
  await page.getByText('10 runs streaming').waitFor();
  keepRaw('ten streams side by side', [measured]);
  keepRaw('six streams of plain text', [plain]);
  return [
    row('six streams of plain text: share of the main thread', plain.mainMs / plain.seconds / 10, '%'),
    row('six streams of plain text: frames a second', plain.framesPerSecond, '/s'),
    row('six streams of plain text: frames over 50 ms', plain.framesOver50, ''),
    row('ten streams side by side: share of the main thread', measured.mainMs / measured.seconds / 10, '%'),
    row('ten streams side by side: frames a second', measured.framesPerSecond, '/s'),
    row('ten streams side by side: slowest frame', measured.slowestFrameMs, 'ms'),
    row('ten streams side by side: longest task over 50 ms', measured.longestTaskMs, 'ms'),
    row('ten streams side by side: frames over 50 ms', measured.framesOver50, '', { max: 0 }),
  ];
}

async function measureRun(page: Page): Promise<Row[]> {
  const playground = await openPlayground(page, quickModel);
  const settled = () => page.getByRole('region', { name: 'Answer', exact: true }).getByRole('status');
  const rounds = 30;
  const measured = await measureRunLatency(page, {
    press: () => playground.run(),
    shown: async () => {
      await settled().getByText('Complete').waitFor();
      await delay(150);
    },
    arrivedAt: () => provider.newest().at,
    rounds,
  });
  // The first ones include compilation.
  const latencies = measured.slice(3);
  const total = latencies.map((latency) => latency.total);
  const inWindow = latencies.map((latency) => latency.inWindow);
  raw['Run to the request at the provider, ms'] = rounded(total);
  raw['Run until the window has sent its request, ms'] = rounded(inWindow);
  return [
    row(`Run to the request at the provider, p50 of ${rounds}`, percentile(total, 0.5), 'ms', { max: 10 }),
    row('Run to the request at the provider, p90', percentile(total, 0.9), 'ms'),
    row('Run until the window has sent its request, p50', percentile(inWindow, 0.5), 'ms'),
  ];
}

async function measurePaint(page: Page): Promise<Row[]> {
  const paints = [];
  for (let round = 0; round < 3; round += 1) {
    const session = await page.context().newCDPSession(page);
    await session.send('Network.clearBrowserCache');
    await page.reload();
    await new PlaygroundPage(page).prompt.waitFor();
    paints.push(await readFirstPaint(page));
  }
  const last = paints.at(-1)!;
  for (const [name, bytes] of last.files) console.log(`  ${name} ${bytes}`);
  const bytes = Math.max(...paints.map((paint) => paint.bytes));
  return [
    row('first paint: compressed bytes before it', bytes / 1024, 'KB', { max: 250 }),
    row('first paint: after', median(paints.map(({ paintMs }) => paintMs)), 'ms'),
  ];
}

async function main(): Promise<void> {
  const obstacle = await obstacleTo('browser');
  if (obstacle !== null) {
    console.log(`NOT RUN: ${obstacle}`);
    process.exitCode = 1;
    return;
  }
  const host = stack.use(await startHeadlessHost({ endpoints: [`paced=${provider.address}/v1`] }));
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  stack.defer(() => browser.close());
  const page = await signIn(browser, host.windowUrl);
  const rows: Row[] = [];
  if (values.part.includes('paint')) rows.push(...(await measurePaint(page)));
  if (values.part.includes('run')) rows.push(...(await measureRun(page)));
  if (values.part.includes('streams')) {
    for (const kind of chosen) rows.push(...compareRows(kind, await compare(browser, page, kind)));
  }
  if (values.part.includes('ten')) rows.push(...(await measureTen(browser, page)));
  printReport('window', rows, raw);
}

await main();
