import { expect, test } from 'vitest';
import { AppError } from '../../../shared/app-error.ts';
import { createBriefQueries } from '../../../electron/team/create-team.ts';

test('a query that took too long lets the next ones go on without an answer, until the pause is over', async () => {
  let time = 0;
  const briefly = createBriefQueries(() => false, { waitMs: 1, now: () => time });
  let sent = 0;
  const never = (signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      sent += 1;
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  expect(await briefly(never)).toBeUndefined();
  time += 9999;
  expect(await briefly(never)).toBeUndefined();
  expect(sent).toBe(1);
  time += 1;
  expect(await briefly(() => Promise.resolve('found'))).toBe('found');
});

test('a database that is away is not waited for, and only expected failures are without an answer', async () => {
  const find = () => Promise.resolve('found');
  expect(await createBriefQueries(() => true)(find)).toBeUndefined();
  const briefly = createBriefQueries(() => false);
  expect(await briefly(() => Promise.reject(new AppError('conflict', 'Away')))).toBeUndefined();
  await expect(briefly(() => Promise.reject(new Error('a fault')))).rejects.toThrow('a fault');
  expect(await briefly(find)).toBe('found');
});
