import { once } from 'node:events';
import type { Comparison } from '../../shared/contract/comparisons.ts';
import type { ComparisonCell } from '../../shared/contract/comparison-results.ts';
import { read, type RunningHost, startHost } from './running-host.ts';
import { type ScriptedCall, startScriptedProvider } from './scripted-provider.ts';

export interface CompareKillsOptions {
  readonly directory: string;
  readonly rows: number;
  readonly kills: number;
  /** Milliseconds from the start of the comparison to the end of the host, for each kill. */
  readonly lifetime: () => number;
  /** Milliseconds that the provider takes for an answer. */
  readonly answerMs: () => number;
}

export interface CompareKillsReport {
  readonly calls: number;
  readonly completed: number;
  /** Cells that ran when the host was killed, and whose outcome nobody knows. */
  readonly interrupted: number;
  /** Everything that should not be. */
  readonly problems: readonly string[];
}

const variants = ['A', 'B'];
const json = { 'content-type': 'application/json' };

function post<Value>(host: RunningHost, path: string, body: unknown = {}): Promise<Value> {
  return read<Value>(host, path, { method: 'POST', body: JSON.stringify(body), headers: json });
}

const promptOf = (call: ScriptedCall) => (call.body['messages'] as { content: string }[])[0]!.content;

async function create(host: RunningHost, rows: number): Promise<string> {
  const dataset = await post<{ id: string }>(host, '/datasets', {
    name: 'Numbers',
    columns: [{ name: 'number', type: 'text' }],
    rows: Array.from({ length: rows }, (_, index) => ({ number: `${index}` })),
  });
  const model = { aiSystem: 'OpenAiCompatible', model: 'scripted/model' };
  const comparison = await post<Comparison>(host, '/comparisons', {
    name: 'Kills',
    datasetId: dataset.id,
    concurrency: 8,
    checks: [{ kind: 'contains', value: 'answer to' }],
    variants: variants.map((name) => ({ name, prompt: { promptText: `${name} {{number}}` }, ...model })),
  });
  return comparison.id;
}

async function everyCell(host: RunningHost, id: string): Promise<ComparisonCell[]> {
  const cells: ComparisonCell[] = [];
  for (let total = 1; cells.length < total;) {
    const path = `/comparisons/${id}/cells?limit=1000&offset=${cells.length}`;
    const page = await read<{ data: ComparisonCell[]; total: number }>(host, path);
    cells.push(...page.data);
    total = page.total;
  }
  return cells;
}

const promptOfCell = (cells: readonly ComparisonCell[], index: number) =>
  `${cells[index]!.variant} ${Math.floor(index / variants.length)}`;

async function completedPrompts(host: RunningHost, id: string): Promise<Set<string>> {
  const cells = await everyCell(host, id);
  return new Set(cells.flatMap(({ state }, index) => (state === 'Completed' ? [promptOfCell(cells, index)] : [])));
}

/** Waits until a comparison has ended, or so long. */
async function waitForEnd(host: RunningHost, id: string, milliseconds = Infinity): Promise<void> {
  const until = Date.now() + milliseconds;
  while (Date.now() < until) {
    const { state } = await read<Comparison>(host, `/comparisons/${id}`);
    if (state !== 'Running') return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** What the provider saw. A call is late if its cell had already been seen as completed. */
class Calls {
  readonly byPrompt = new Map<string, number>();
  readonly late: string[] = [];
  completed: ReadonlySet<string> = new Set();

  note(prompt: string): void {
    this.byPrompt.set(prompt, (this.byPrompt.get(prompt) ?? 0) + 1);
    if (this.completed.has(prompt)) this.late.push(prompt);
  }

  get total(): number {
    return [...this.byPrompt.values()].reduce((sum, count) => sum + count, 0);
  }
}

/** Kills the host again and again while it compares, then lets it finish and compares its cells with the provider's calls. */
export async function killWhileComparing(options: CompareKillsOptions): Promise<CompareKillsReport> {
  const { directory, rows, kills, lifetime, answerMs } = options;
  const calls = new Calls();
  const provider = await startScriptedProvider();
  provider.answerWith((call) => {
    const prompt = promptOf(call);
    calls.note(prompt);
    setTimeout(() => void call.chatStream([`The answer to ${prompt}`]), answerMs());
  });
  const start = () => startHost(directory, ['--endpoint', `scripted=${provider.baseAddress}`]);
  try {
    let id: string | null = null;
    for (let round = 0; round < kills; round += 1) {
      const host = await start();
      const ended = once(host.child, 'close');
      id ??= await create(host, rows);
      calls.completed = await completedPrompts(host, id);
      await post(host, `/comparisons/${id}/start`);
      await new Promise((resolve) => setTimeout(resolve, lifetime()));
      host.child.kill('SIGKILL');
      await ended;
    }
    const host = await start();
    const ended = once(host.child, 'close');
    calls.completed = await completedPrompts(host, id!);
    await post(host, `/comparisons/${id!}/start`);
    await waitForEnd(host, id!);
    const cells = await everyCell(host, id!);
    host.child.kill('SIGTERM');
    await ended;
    return reportOf(cells, calls);
  } finally {
    await provider.close();
  }
}

function reportOf(cells: readonly ComparisonCell[], calls: Calls): CompareKillsReport {
  const problems = calls.late.map((prompt) => `"${prompt}" was called after its cell had completed`);
  for (const [prompt, count] of calls.byPrompt) {
    // Only a person's Retry may repeat a cell, and nobody asked for one.
    if (count > 1) problems.push(`"${prompt}" was called ${count} times`);
  }
  for (const [index, cell] of cells.entries()) {
    const prompt = promptOfCell(cells, index);
    const isKnown = cell.state === 'Completed' || cell.failure?.code === 'interrupted';
    if (!isKnown) problems.push(`"${prompt}" is ${cell.state}: ${cell.failure?.message}`);
    if (cell.state !== 'Completed') continue;
    if (!calls.byPrompt.has(prompt)) problems.push(`"${prompt}" has completed without a call`);
    if (cell.answer !== `The answer to ${prompt}`) problems.push(`"${prompt}" has the answer ${cell.answer}`);
    if (cell.passed !== true) problems.push(`"${prompt}" has no verdict`);
  }
  return {
    calls: calls.total,
    completed: cells.filter(({ state }) => state === 'Completed').length,
    interrupted: cells.filter(({ failure }) => failure?.code === 'interrupted').length,
    problems,
  };
}
