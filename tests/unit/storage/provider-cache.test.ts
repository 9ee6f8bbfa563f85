import { expect, test } from 'vitest';
import type { ProviderTest } from '../../../shared/contract/providers.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import type { ProviderCache } from '../../../electron/storage/storage.ts';
import { openTestStorage, temporaryDirectory } from './test-storage.ts';

const tested: ProviderTest = {
  testedAt: '2026-11-20T09:30:00.000Z',
  outcome: 'ok',
  milliseconds: 12,
  models: 1,
  status: 200,
  message: null,
};

function recall(memory: ProviderCache, account: string) {
  return [memory.baseAddress(account), memory.lastTest(account), memory.listedModels(account)];
}

test('cached data about providers survives a restart, each part separately', async () => {
  const directory = temporaryDirectory();
  const before = openStorage({ directory });
  const memory = before.providerCache;
  expect(recall(memory, 'OpenAi')).toEqual([null, null, null]);
  memory.setBaseAddress('OpenAi', 'https://gateway.example/v1');
  memory.setListedModels('OpenAi', [{ name: 'gpt-4o', contextTokens: 128_000 }]);
  memory.setLastTest('OpenAi', tested);
  memory.setBaseAddress('OpenAi', null);
  memory.addEndpoint({ name: 'Ollama', baseAddress: 'http://127.0.0.1:11434/v1' });
  memory.setEndpointAddress('ollama', 'http://127.0.0.1:11435/v1');
  memory.addUserModel('Groq', 'new-model');
  memory.addUserModel('Groq', 'new-model');
  memory.addUserModel('Groq', 'old-model');
  memory.removeUserModel('Groq', 'old-model');
  const history = [recall(memory, 'OpenAi'), memory.endpoints(), memory.userModels()];
  await before.close();

  const after = openTestStorage({ directory }).providerCache;
  expect([recall(after, 'OpenAi'), after.endpoints(), after.userModels()]).toEqual(history);
  expect(history).toEqual([
    [null, tested, [{ name: 'gpt-4o', contextTokens: 128_000 }]],
    [{ name: 'Ollama', baseAddress: 'http://127.0.0.1:11435/v1' }],
    [{ aiSystem: 'Groq', model: 'new-model' }],
  ]);
});

test('names of endpoints are case-insensitive, and a removed one leaves nothing behind', () => {
  const { providerCache: memory } = openTestStorage();
  memory.addEndpoint({ name: 'Ollama', baseAddress: 'http://127.0.0.1:1/v1' });
  memory.setLastTest('endpoint:Ollama', tested);
  expect(() => memory.addEndpoint({ name: 'OLLAMA', baseAddress: 'http://127.0.0.1:2/v1' })).toThrow(
    expect.objectContaining({ code: 'conflict' }),
  );
  expect(() => memory.setEndpointAddress('other', 'http://127.0.0.1:2/v1')).toThrow(
    expect.objectContaining({ code: 'not_found' }),
  );
  memory.removeEndpoint('ollama');
  memory.removeEndpoint('ollama');
  expect([memory.endpoints(), memory.lastTest('endpoint:Ollama')]).toEqual([[], null]);
});
