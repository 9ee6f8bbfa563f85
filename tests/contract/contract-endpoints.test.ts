import { afterAll, beforeAll, expect, test } from 'vitest';
import { endpoints } from '../../shared/contract/index.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

/** The methods that the contract gives each path. */
function methodsByPath(): Record<string, string[]> {
  const methods: Record<string, string[]> = {};
  for (const { path, method } of endpoints) (methods[path] ??= []).push(method.toUpperCase());
  return methods;
}

test('the host implements every endpoint of the contract, and nothing else at its address', async () => {
  const answered: Record<string, string[]> = {};
  for (const path of Object.keys(methodsByPath())) {
    const address = `http://127.0.0.1${path.replaceAll(/\{\w+\}/g, 'x')}`;
    // A method that no endpoint has is refused with those that there are, and does nothing.
    const refusal = await host.host.api.fetch(new Request(address, { method: 'OPTIONS' }), { access: 'window' });
    answered[path] = refusal.headers.get('allow')?.split(', ') ?? [];
  }
  const sorted = (methods: Record<string, string[]>) =>
    Object.fromEntries(Object.entries(methods).map(([path, names]) => [path, names.toSorted()]));
  expect(sorted(answered)).toEqual(sorted(methodsByPath()));
});
