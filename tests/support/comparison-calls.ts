import { expect } from 'vitest';
import type { ComparedRow, ComparisonCell } from '../../shared/contract/comparison-results.ts';
import type { Comparison } from '../../shared/contract/comparisons.ts';
import { callJson } from './json-call.ts';
import type { ScriptedCall } from './scripted-provider.ts';
import { type TestHost, type Way, ways } from './test-host.ts';

const [memory] = ways;
export const columns = [
  { name: 'ticket', type: 'text' },
  { name: 'answer', type: 'expected' },
];
export const rows = [
  { ticket: 'late', answer: 'A: late' },
  { ticket: 'broken', answer: 'A: broken' },
  { ticket: 'lost', answer: 'none' },
];
export const provider = { aiSystem: 'OpenAiCompatible', model: 'scripted/model' };
export const variant = (name: string) => ({ name, prompt: { promptText: `${name}: {{ticket}}` }, ...provider });
export const checks = [{ kind: 'equals', column: 'answer' }];

export const promptOf = (call: ScriptedCall) => (call.body['messages'] as { content: string }[]).at(-1)!.content;
export const echo = (call: ScriptedCall) => void call.chatStream([promptOf(call)]);

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Calls that tests of comparisons have in common. The host starts before the first of them. */
export function comparisonCalls(host: () => TestHost) {
  async function createDataset(change: Record<string, unknown> = {}): Promise<string> {
    const { body } = await callJson(host(), memory, 'POST', '/datasets', {
      body: { name: 'T', columns, rows, ...change },
    });
    return body.id;
  }

  async function create(way: Way, change: Record<string, unknown> = {}): Promise<Comparison> {
    const datasetId = await createDataset();
    const body = { name: 'A or B', datasetId, variants: [variant('A'), variant('B')], ...change };
    const answer = await callJson(host(), way, 'POST', '/comparisons', { body });
    expect([answer.status, answer.body]).toEqual([201, expect.any(Object)]);
    return answer.body;
  }

  const act = (way: Way, id: string, action: string, body?: unknown, key = host().key) =>
    callJson(host(), way, 'POST', `/comparisons/${id}/${action}`, { key, ...(body === undefined ? {} : { body }) });
  const read = async (way: Way, id: string) =>
    (await callJson(host(), way, 'GET', `/comparisons/${id}`)).body as Comparison;
  const cellsOf = async (way: Way, id: string, query = '') =>
    (await callJson(host(), way, 'GET', `/comparisons/${id}/cells${query}`)).body.data as ComparisonCell[];

  async function ended(way: Way, id: string): Promise<Comparison> {
    for (;;) {
      const comparison = await read(way, id);
      if (comparison.state !== 'Running') return comparison;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async function run(way: Way, id: string): Promise<Comparison> {
    expect((await act(way, id, 'start')).status).toBe(202);
    return ended(way, id);
  }

  async function readRows(id: string, query: string) {
    const request = new Request(`http://window.test/window/comparisons/${id}/rows?${query}`);
    const response = await host().host.api.fetch(request, { access: 'window' });
    return (await response.json()) as { data: ComparedRow[]; total: number; counts: unknown };
  }

  return { createDataset, create, act, read, cellsOf, ended, run, readRows };
}
