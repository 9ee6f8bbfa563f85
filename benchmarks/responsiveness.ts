/**
 * How long one hostile request of up to 4 MB delays another one, by kind of input, on a real headless host: the longest time that a
 * cheap request took meanwhile, and the longest delay of the host's event loop.
 * `npm run benchmark -- responsiveness [PART OF A KIND [TEXT]...]`; without texts it sends those that were among the slowest before, and
 * with `all` every text, which takes half an hour. Other programs on the machine add to the
 * delays, but not to the processor time that the main thread uses in one turn.
 */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { hostFlags } from '../scripts/run-built.mjs';
import { hostEnvironment } from '../tests/support/host-environment.ts';
import { signIn } from '../tests/support/sign-in.ts';
import { hostileBodies, hostileText, type HostileText, hostileTexts } from './support/hostile-inputs.ts';
import { printReport, row, type Row } from './support/report.ts';

const aimMs = 200;
/** A request may take longer than this; only its delays up to then count. */
const maxWaitMs = 15_000;
/** An upload is parsed and stored by then; its embeddings take minutes, in other threads. */
const maxUploadMs = 1_000;
const bodyBytes = 4 * 1_048_576 - 4096;

const support = new URL('./support/', import.meta.url);
/** Texts that were among the slowest of a kind in earlier runs; `all` sends every one. */
const slowestTexts = [
  ...[
    'one word',
    'line ends',
    'short sentences',
    'backslashes',
    'different variables',
    'open blocks',
    'random characters',
  ],
  ...['quotes, two-byte', 'question marks, two-byte', 'Jinja statements, two-byte', 'variables, two-byte'],
  ...['combining marks', 'emoji', 'random Han'],
];
const [filter = '', ...requestedTexts] = process.argv.slice(2);
const chosenTexts = requestedTexts.length === 0 ? slowestTexts : requestedTexts;
const sendsAll = chosenTexts.includes('all');
const sentTexts = hostileTexts.filter(({ name }) => sendsAll || chosenTexts.includes(name));
const isVerbose = process.env['VERBOSE'] !== undefined;

interface Measured {
  readonly pollMs: number;
  readonly loopMs: number;
  /** Processor time of the main thread in one turn: the part of the delay that remains on an idle machine. */
  readonly cpuMs: number;
}

interface World {
  /** Sends a request like the window does. Returns the status, or 0 if it took too long. */
  send(path: string, body: string | FormData, method?: string): Promise<number>;
  json<Value>(path: string, body?: unknown, method?: string): Promise<Value>;
  /** The delays since the last call. */
  measured(): Promise<Measured>;
}

async function startWorld(
  directory: string,
  started: ChildProcess[],
): Promise<World & { stopPolling(): Promise<number> }> {
  const upstream = fork(new URL('echo-upstream.mjs', support));
  started.push(upstream);
  const [upstreamPort] = (await once(upstream, 'message')) as [number];
  const serve = new URL('../out/host/serve.js', import.meta.url).pathname;
  const host = spawn(
    process.execPath,
    [
      ...hostFlags,
      ...['--import', new URL('event-loop-probe.mjs', support).href],
      ...[serve, '--json', '--port', '0', '--data-dir', directory],
      ...['--endpoint', `bench=http://127.0.0.1:${upstreamPort}/v1`],
    ],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'], env: hostEnvironment },
  );
  started.push(host);
  const lines = createInterface({ input: host.stdout! });
  const [line] = (await once(lines, 'line')) as [string];
  const { address, windowUrl } = JSON.parse(line) as { address: string; windowUrl: string };
  const headers = { origin: address, ...(await signIn(windowUrl)) };
  const poller = new Worker(new URL('latency-poller.mjs', support), {
    workerData: { address: `${address}/window/settings`, headers },
  });
  const call = (path: string, body: string | FormData | null, method: string) =>
    fetch(address + path, {
      method,
      headers: { ...headers, ...(typeof body === 'string' && { 'content-type': 'application/json' }) },
      body,
      signal: AbortSignal.timeout(maxWaitMs),
    });
  return {
    async send(path, body, method = 'POST') {
      try {
        const response = await call(path, body, method);
        await response.bytes();
        statuses.push(response.status);
        return response.status;
      } catch (error) {
        if (error instanceof DOMException && error.name === 'TimeoutError') return 0;
        throw error;
      }
    },
    async json(path, body, method = body === undefined ? 'GET' : 'POST') {
      const response = await call(path, body === undefined ? null : JSON.stringify(body), method);
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return (response.status === 204 ? null : await response.json()) as never;
    },
    async measured() {
      // The event loop's delay is known after its next turn.
      await delay(40);
      poller.postMessage(null);
      host.send('read');
      const [[pollMs], [turn]] = (await Promise.all([once(poller, 'message'), once(host, 'message')])) as [
        [number],
        [Omit<Measured, 'pollMs'>],
      ];
      return { pollMs, ...turn };
    },
    stopPolling: () => poller.terminate(),
  };
}

type Case = (text: string, world: World) => Promise<unknown>;

const model = { aiSystem: 'OpenAiCompatible', model: 'bench/echo' };
const post =
  (path: string, bodyOf: (text: string) => unknown): Case =>
  (text, world) =>
    world.send(path, JSON.stringify(bodyOf(text)));

/** What follows the header of a WAV file may be anything. */
const wavHeader = 'RIFF\xff\xff\xff\x7fWAVEfmt ';

/** Uploads files of at most 20 MB each and sends them in one request. */
const filesOf =
  (mediaType: string, header: string, megabytes: readonly number[]): Case =>
  async (text, world) => {
    const files: { fileId: string }[] = [];
    for (const [index, size] of megabytes.entries()) {
      const content = Buffer.alloc(size * 1_048_576, text === '' ? ' ' : text);
      // Zeros: the file must not be taken for a text.
      if (header !== '') content.fill(0, 0, 8192);
      content.write(`${header}${index}`, 'latin1');
      const form = new FormData();
      form.append('file', new File([content], `file-${index}`, { type: mediaType }));
      await world.send('/files', form);
      files.push({ fileId: createHash('sha256').update(content).digest('hex') });
    }
    // The provider repeats the last message, and the files are in another one.
    const promptText = '{{#each files}}{{media url=this}}{{/each}}{{role "model"}}Yes?{{role "user"}}a';
    await world.send('/api/completions/sync', JSON.stringify({ ...model, promptText, replacements: { files } }));
  };

const endedSources = new Set(['Ready', 'Failed']);

const uploadOf =
  (fileName: string, before = '', after = ''): Case =>
  async (text, world) => {
    const form = new FormData();
    form.append('name', fileName);
    form.append('file', new File([before, text, after], fileName));
    if ((await world.send('/sources', form)) !== 201) return;
    const sources = () => world.json<{ data: { id: string; status: string }[] }>('/sources');
    let { data } = await sources();
    const deadline = performance.now() + maxUploadMs;
    while (performance.now() < deadline && data.some(({ status }) => !endedSources.has(status))) {
      await delay(100);
      ({ data } = await sources());
    }
    for (const { id } of data) await world.json(`/sources/${id}`, undefined, 'DELETE');
  };

const importOf =
  (name: string, before = '', after = ''): Case =>
  async (text, world) => {
    const bytes = Buffer.from(before + text + after).subarray(0, 2_700_000);
    await world.send(
      '/window/prompts/import/preview',
      JSON.stringify({ sources: [{ name, base64: bytes.toString('base64') }] }),
    );
  };

/** Stores the text as a prompt, then reads, searches, exports and deletes it. */
const library: Case = async (text, world) => {
  const body = { name: 'Hostile', promptText: text, systemMessage: text.slice(0, 1000), ...model };
  const response = await world.json<{ id: string }>('/prompts', body).catch(() => null);
  if (response === null) return;
  await world.send('/prompts?search=hostile', '', 'GET').catch(() => 0);
  for (const format of ['dotprompt', 'promptfoo', 'jsonl', 'markdown']) {
    await world.send('/window/prompts/export', JSON.stringify({ prompts: [{ id: response.id }], format }));
  }
  await world.json(`/prompts/${response.id}`, undefined, 'DELETE');
};

const rules = [{ kind: 'email' }, { kind: 'phone' }, { kind: 'card' }, { kind: 'account' }];
const columns = ['promptText', 'renderedPrompt', 'content', 'replacements', 'metadata'];

/** Records a run with the text as prompt and answer, then searches for it and exports it as evidence. */
const evidence: Case = async (text, world) => {
  // Without the runs of earlier texts, whose number only adds to the time.
  const since = { startDate: new Date().toISOString() };
  await world.send(
    '/api/completions/sync',
    JSON.stringify({ ...model, promptText: '{{text}}', replacements: { text } }),
  );
  const search = { filter: { text: text.slice(0, 2000) } };
  await world.send('/window/audit/search', JSON.stringify(search));
  await world.send('/audit/conversations', JSON.stringify(since));
  await world.send('/window/audit/exports/preview', JSON.stringify({ selection: { filter: since }, columns, rules }));
  const pack = { selection: { filter: since }, formats: ['html', 'jsonl', 'csv'], form: 'zip', columns, rules };
  await world.send('/window/audit/exports', JSON.stringify(pack));
};

const objectSchema = (text: string) => ({
  type: 'object',
  properties: { [text]: { type: 'string', description: text, pattern: text, enum: [text] } },
});

const responseFormat = (schema: object) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
});

const cases: Readonly<Record<string, Case>> = {
  'completion: template': post('/api/completions/sync', (promptText) => ({ ...model, promptText })),
  'completion: replacement': post('/api/completions/sync', (text) => ({
    ...model,
    promptText: '{{text}}',
    replacements: { text },
  })),
  'completion: streamed': post('/api/completions/sse', (text) => ({
    ...model,
    promptText: '{{text}}',
    replacements: { text },
  })),
  'completion: system message': post('/api/completions/sync', (systemMessage) => ({
    ...model,
    promptText: 'a',
    systemMessage,
  })),
  'completion: model name': post('/api/completions/sync', (name) => ({ ...model, model: name, promptText: 'a' })),
  'completion: metadata': post('/api/completions/sync', (text) => ({
    ...model,
    promptText: 'a',
    metadata: { text: text.slice(0, text.length / 2) },
    configuration: { text: text.slice(text.length / 2) },
  })),
  'completion: messages': post('/api/completions/sync', (text) => ({
    ...model,
    promptText: `{{role "user"}}${text}{{role "model"}}{{json text}}{{role "user"}}{{text}}`,
    replacements: { text: text.slice(0, text.length / 2) },
  })),
  'completion: file': post('/api/completions/sync', (text) => ({
    ...model,
    promptText: '{{media url=notes}}',
    replacements: { notes: { mediaType: 'text/plain', data: Buffer.from(text).toString('base64') } },
  })),
  'completion: 50 MB of files': filesOf('audio/wav', wavHeader, [20, 20, 10]),
  'completion: text file of 20 MB': filesOf('text/plain', '', [20]),
  'completion: tools': post('/api/completions/sync', (text) => ({
    ...model,
    promptText: '{{text}}',
    replacements: { text },
    configuration: {
      tools: [{ type: 'function', function: { name: 'a', description: text, parameters: objectSchema(text) } }],
    },
  })),
  'schema: answer': post('/api/completions/sync', (text) => ({
    ...model,
    promptText: '{{text}}',
    replacements: { text },
    configuration: responseFormat({ type: ['object', 'string'], pattern: '^(a|b|\\s)*$' }),
  })),
  'schema: streamed answer': post('/api/completions/sse', (text) => ({
    ...model,
    promptText: '{{text}}',
    replacements: { text: `{"a": "${text}` },
    configuration: responseFormat(objectSchema('a')),
  })),
  'schema: definition': post('/api/completions/sync', (text) => ({
    ...model,
    promptText: 'a',
    configuration: responseFormat(objectSchema(text)),
  })),
  'rendering: loops': post('/api/completions/sync', (text) => ({
    ...model,
    promptText: '{{#each list}}{{#with ../text}}{{/with}}{{#if (lookup ../text this)}}{{/if}}{{/each}}',
    replacements: { text, list: Array.from({ length: 1000 }, (_, index) => index) },
  })),
  'grounding: preview': post('/window/grounding', (text) => ({
    ...model,
    promptText: '{{text}}',
    replacements: { text },
    dataspaceIds: [dataspaceId],
  })),
  'grounding: search': (text, world) =>
    world.send(`/dataspaces/${dataspaceId}/search`, JSON.stringify({ query: text })),
  'moderation: text': post('/moderations', (input) => ({ input })),
  'moderation: explanation': post('/window/moderation/explain', (text) => ({ text })),
  'moderation: batch': post('/window/moderation/batches', (text) => ({
    name: 'Hostile',
    classifiers: [{ kind: 'on-device' }],
    source: { kind: 'texts', texts: [{ text }] },
  })),
  'upload: txt': uploadOf('a.txt'),
  'upload: md': uploadOf('a.md', '# A\n'),
  'upload: html': uploadOf('a.html', '<!doctype html><body>'),
  'upload: xml': uploadOf('a.xml'),
  'upload: csv': uploadOf('a.csv', 'a,b\n'),
  'upload: json': uploadOf('a.json', '{"a":"'),
  'upload: pdf': uploadOf('a.pdf', '%PDF-1.7\n'),
  'upload: docx': uploadOf('a.docx', 'PK\u0003\u0004'),
  'import: any text': importOf('a'),
  'import: prompt': importOf('a.prompt', '---\nname: a\n---\n'),
  'import: front matter': importOf('a.prompt', '---\n', '\n---\n'),
  'import: promptfoo': importOf('promptfooconfig.yaml', 'prompts:\n  - "'),
  'import: csv': importOf('a.csv', 'a,b\n'),
  'import: jsonl': importOf('a.jsonl', '{"messages":[{"role":"user","content":"'),
  'import: jinja': importOf('a.j2', '{% raw %}', '{% endraw %}'),
  'library: prompt': library,
  'audit and evidence': evidence,
};

let dataspaceId = '';
/** Of the requests of the measured case. */
let statuses: number[] = [];

/** Stores the longest delay of each kind, with the input that caused it. */
function createWorst() {
  const worst = { pollMs: { value: 0, input: '' }, loopMs: { value: 0, input: '' }, cpuMs: { value: 0, input: '' } };
  return {
    add(what: string, input: string, measured: Measured): void {
      if (isVerbose) console.error(what, JSON.stringify(measured));
      for (const kind of ['pollMs', 'loopMs', 'cpuMs'] as const) {
        if (measured[kind] > worst[kind].value) worst[kind] = { value: measured[kind], input };
      }
    },
    rows: (name: string): Row[] => [
      row(`${name} (${worst.pollMs.input})`, worst.pollMs.value, 'ms', { max: aimMs }),
      row(`${name}, event loop (${worst.loopMs.input})`, worst.loopMs.value, 'ms'),
      row(`${name}, processor time of one turn (${worst.cpuMs.input})`, worst.cpuMs.value, 'ms', { max: aimMs }),
    ],
  };
}

/** Whether escaping makes a text twice as long. */
const isEscaped = ({ unit, isRandom }: HostileText) => !isRandom && JSON.stringify(unit).length > unit.length + 2;
const hasAccepted = () => statuses.some((status) => status > 0 && status < 300);

/** The longest text that the case accepts, halved until it fits; null if it accepts none. */
async function acceptedBytes(run: Case, world: World): Promise<number | null> {
  for (let bytes = bodyBytes / 2; bytes >= 64; bytes /= 2) {
    statuses = [];
    await run(hostileText({ name: 'sentences', unit: 'a. ' }, Math.floor(bytes)), world).catch(() => undefined);
    if (hasAccepted()) return Math.floor(bytes);
  }
  return null;
}

/** The worst of all texts for one kind of request. */
async function measureCase(name: string, run: Case, world: World): Promise<Row[]> {
  const worst = createWorst();
  const failed: string[] = [];
  const measureTexts = async (maxBytes: number) => {
    for (const each of sentTexts) {
      const text = hostileText(each, Math.floor(maxBytes / (isEscaped(each) ? 2 : 1)));
      await world.measured();
      await run(text, world).catch((error: unknown) => failed.push(`${each.name}: ${String(error)}`));
      worst.add(`${name}, ${each.name}`, each.name, await world.measured());
    }
  };
  statuses = [];
  await measureTexts(bodyBytes);
  // If all requests of a case are rejected, only the rejection is measured: repeat the same texts while they are rejected.
  const shorter = hasAccepted() ? null : await acceptedBytes(run, world);
  if (shorter !== null) await measureTexts(shorter);
  if (!hasAccepted()) console.error(`${name}: no request was accepted`);
  if (failed.length > 0) console.error(`${name}: ${failed.join('; ')}`);
  return worst.rows(name);
}

async function measureBodies(world: World): Promise<Row[]> {
  const worst = createWorst();
  for (const { name, body } of hostileBodies()) {
    for (const path of ['/api/completions/sync', '/prompts', '/audit/conversations']) {
      await world.measured();
      await world.send(path, body);
      await world.send(
        path,
        `{"promptText":"a","aiSystem":"OpenAiCompatible","model":"bench/echo","replacements":{"a":${body.slice(0, -200)}}}`,
      );
      worst.add(`${name}, ${path}`, name, await world.measured());
    }
  }
  return worst.rows('body: JSON');
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'touchstone-responsiveness-'));
  const started: ChildProcess[] = [];
  try {
    const world = await startWorld(directory, started);
    ({ id: dataspaceId } = await world.json<{ id: string }>('/dataspaces', { name: 'Hostile' }));
    const form = new FormData();
    form.append('name', 'Rules');
    form.append('dataspaceId', dataspaceId);
    form.append('file', new File(['The harbour master keeps the keys. '.repeat(2000)], 'rules.txt'));
    await world.send('/sources', form);
    const rows: Row[] = [];
    await world.measured();
    await delay(1000);
    const { pollMs } = await world.measured();
    rows.push(row('no other request', pollMs, 'ms'));
    if ('body: JSON'.includes(filter)) rows.push(...(await measureBodies(world)));
    for (const [name, run] of Object.entries(cases)) {
      if (name.includes(filter)) rows.push(...(await measureCase(name, run, world)));
    }
    await world.stopPolling();
    printReport('responsiveness', rows);
  } finally {
    for (const child of started) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
