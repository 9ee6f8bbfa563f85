import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createApiKeys } from '../../../electron/storage/api-keys.ts';
import { openDatabase } from '../../../electron/storage/database.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import { openTestStorage, temporaryDirectory } from './test-storage.ts';

const uuid = expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);

test('a new key authenticates as its caller, with all scopes by default', () => {
  const { apiKeys } = openTestStorage();
  const issued = apiKeys.issue({ name: 'a program' });
  expect(issued).toEqual({
    id: uuid,
    name: 'a program',
    recordLevel: 'all',
    callerId: uuid,
    scopes: ['run', 'audit', 'manage'],
    creditLimit: null,
    creditsUsed: 0,
    requestsPerMinute: null,
    tokensPerMinute: null,
    createdAt: time,
    lastUsedAt: null,
    revokedAt: null,
    key: expect.stringMatching(/^ts_[\w-]{43}$/),
  });
  expect(apiKeys.authenticate(issued.key)).toEqual({
    id: issued.id,
    recordLevel: 'all',
    callerId: issued.callerId,
    scopes: ['run', 'audit', 'manage'],
    creditLimit: null,
    creditsUsed: 0,
    creditsElsewhere: 0,
    isShared: false,
    requestsPerMinute: null,
    tokensPerMinute: null,
  });
  expect(apiKeys.list()[0]?.lastUsedAt).toEqual(time);
});

test('rejects anything but an exact key', () => {
  const { apiKeys } = openTestStorage();
  const { key } = apiKeys.issue({ name: 'a', scopes: ['run'], creditLimit: 5 });
  const wrong = ['', 'ts_', key.slice(1), `${key} `, key.toUpperCase(), `ts_${'A'.repeat(43)}`, 'x'.repeat(100_000)];
  expect(wrong.map((text) => apiKeys.authenticate(text))).toEqual(wrong.map(() => null));
  expect(apiKeys.authenticate(key)).toMatchObject({ scopes: ['run'], creditLimit: 5 });
});

test('keys are listed newest first, changed, and revoked permanently', () => {
  const { apiKeys } = openTestStorage();
  const [first, second] = [apiKeys.issue({ name: 'first' }), apiKeys.issue({ name: 'second', creditLimit: 3 })];
  expect(apiKeys.update(first.id, { creditLimit: 10 })).toMatchObject({ name: 'first', creditLimit: 10 });
  expect(apiKeys.update(second.id.toUpperCase(), { name: 'renamed' })).toMatchObject({
    name: 'renamed',
    creditLimit: 3,
  });
  expect(apiKeys.update(second.id, { creditLimit: null })).toMatchObject({ name: 'renamed', creditLimit: null });
  apiKeys.revoke(first.id);
  const revokedAt = apiKeys.list().at(-1)?.revokedAt;
  apiKeys.revoke(first.id);
  expect(apiKeys.authenticate(first.key)).toBeNull();
  expect(apiKeys.list()).toMatchObject([
    { id: second.id, revokedAt: null },
    { id: first.id, revokedAt },
  ]);
  expect(revokedAt).toEqual(time);
});

test('an unknown id is not found', () => {
  const { apiKeys } = openTestStorage();
  const notFound = expect.objectContaining({ code: 'not_found' });
  expect(() => apiKeys.revoke('nobody')).toThrow(notFound);
  expect(() => apiKeys.update('nobody', { name: 'x' })).toThrow(notFound);
});

test('changes by another process apply at once', () => {
  const { apiKeys, directory } = openTestStorage();
  const database = openDatabase(directory);
  onTestFinished(() => void database.close());
  const others = createApiKeys(database);
  const issued = others.issue({ name: 'from outside' });
  expect(apiKeys.authenticate(issued.key)?.id).toBe(issued.id);
  others.revoke(issued.id);
  expect(apiKeys.authenticate(issued.key)).toBeNull();
});

test('a key is in no file, and its last use survives a restart', async () => {
  const directory = temporaryDirectory();
  const storage = openStorage({ directory });
  const { key } = storage.apiKeys.issue({ name: 'secret' });
  storage.apiKeys.authenticate(key);
  await storage.close();
  const files = readdirSync(directory).map((file) => readFileSync(join(directory, file), 'latin1'));
  expect(files.some((text) => text.includes(key.slice(3)))).toBe(false);
  expect(openTestStorage({ directory }).apiKeys.list()[0]?.lastUsedAt).toEqual(time);
});
