import { expect, test } from 'vitest';
import { createConversationTurns } from '../../../electron/agents/create-agents.ts';

const patient = () => ({ signal: new AbortController().signal });

test('runs one turn at a time per conversation in the order of the calls, and other conversations in parallel', async () => {
  const turns = createConversationTurns();
  const order: string[] = [];
  const take = async (conversation: string, name: string) => {
    const end = await turns.take(conversation, patient());
    order.push(name);
    return end;
  };
  const endFirst = await take('a', 'first');
  const second = take('a', 'second');
  const third = take('a', 'third');
  await take('b', 'elsewhere');
  expect(order).toEqual(['first', 'elsewhere']);
  endFirst();
  const endSecond = await second;
  expect(order).toEqual(['first', 'elsewhere', 'second']);
  endSecond();
  (await third)();
  expect(order).toEqual(['first', 'elsewhere', 'second', 'third']);
});

test('skips a queued turn that is aborted', async () => {
  const turns = createConversationTurns();
  const end = await turns.take('a', patient());
  const leaving = new AbortController();
  const left = turns.take('a', leaving);
  const next = turns.take('a', patient());
  leaving.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  end();
  (await next)();
  await expect(turns.take('a', { signal: AbortSignal.abort(new Error('never came')) })).rejects.toThrow('never came');
  (await turns.take('a', patient()))();
});
