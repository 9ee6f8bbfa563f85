import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countTokens } from '../../shared/contract/completions.ts';
import { setProviderKey, updateProvider } from '../../shared/contract/providers.ts';
import { windowClient } from '../support/window-client.ts';
import { foundRuns, guardOf, threat } from '../support/guarded-host.ts';
import { judgeError } from '../support/specification-judge.ts';
import { callJson } from '../support/json-call.ts';
import { completionCall, minimalRequest, startTestHost, ways, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());
const setGuard = guardOf(() => host);
const send = (path: string, body: Record<string, unknown> = {}) =>
  host.send('in memory', completionCall(host, path, body));

/** A window whose OpenAI counts tokens. */
async function countingWindow() {
  host.provider.answerWith((call) => call.json(200, { input_tokens: 9 }));
  const client = windowClient(host.host);
  const parameters = { aiSystem: 'OpenAi' } as const;
  await client.call(updateProvider, { parameters, body: { baseAddress: host.provider.baseAddress } });
  await client.call(setProviderKey, { parameters, body: { key: 'sk-test' } });
  return { client, body: { promptText: 'Hello', aiSystem: 'OpenAi', model: 'gpt-4o' } as const };
}

test('rejects a provider without a counting endpoint with 400 and its name', async () => {
  const { client, body } = await countingWindow();
  const other = { ...body, aiSystem: 'OpenAiCompatible', model: minimalRequest.model } as const;
  await expect(client.call(countTokens, { body: other })).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining("doesn't count tokens before a run"),
  });
});

test('counts the tokens of a model that no list has yet, as a run would', async () => {
  const { client, body } = await countingWindow();
  host.provider.answerWith((call) =>
    call.path.endsWith('/models') ? call.models(['gpt-brand-new']) : call.json(200, { input_tokens: 9 }),
  );
  expect(await client.call(countTokens, { body: { ...body, model: 'gpt-brand-new' } })).toEqual({ tokens: 9 });
  await expect(client.call(countTokens, { body: { ...body, model: 'gpt-nowhere' } })).rejects.toMatchObject({
    code: 'invalid_request',
  });
});

describe('with the guard blocking prompts', () => {
  test('rejects a threat with 400 in all transports, naming promptText, and sends nothing', async () => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    const calls = host.provider.calls.length;
    for (const path of [
      '/api/completions',
      '/api/completions/sync',
      '/api/completions/stream',
      '/api/completions/sse',
    ]) {
      const answer = await send(path, { promptText: '{{words}}', replacements: { words: threat } });
      judgeError(answer, 400);
      expect(JSON.parse(answer.text)).toMatchObject({
        error: {
          code: 'invalid_request',
          details: [{ field: 'promptText', issue: expect.stringContaining('violence') as string }],
        },
      });
    }
    expect(host.provider.calls.length).toBe(calls);
  });

  test('rejects a threat in the configuration with 400 and its field, and sends nothing', async () => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    const calls = host.provider.calls.length;
    const answer = await send('/api/completions/sync', { configuration: { instructions: threat } });
    judgeError(answer, 400);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { details: [{ field: 'configuration.instructions' }] } });
    expect(host.provider.calls.length).toBe(calls);
  });

  test("doesn't send a threat to be counted either", async () => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    const { client, body } = await countingWindow();
    const calls = host.provider.calls.length;
    await expect(client.call(countTokens, { body: { ...body, promptText: threat } })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(host.provider.calls.length).toBe(calls);
    expect(await client.call(countTokens, { body })).toEqual({ tokens: 9 });
  });

  test('an everyday prompt passes', async () => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    host.provider.answerWith((call) => call.chatAnswer({ content: 'With kill -9.' }));
    const { status } = await send('/api/completions/sync', { promptText: 'How do I kill a Python process?' });
    expect(status).toBe(200);
  });
});

describe('with the guard blocking answers', () => {
  test('withholds a flagged answer, and stores it with its run', async () => {
    setGuard({ prompts: 'off', answers: 'refuse' });
    host.provider.answerWith((call) => call.chatAnswer({ content: threat }));
    const answer = JSON.parse((await send('/api/completions/sync')).text) as { runId: string; choices: unknown };
    expect(answer.choices).toEqual([
      { index: 0, finish_reason: 'ContentFilter', message: { role: 'Assistant', content: '' } },
    ]);
    const run = host.host.storage.runs.read(answer.runId);
    expect(run).toMatchObject({
      status: 'Completed',
      output: { content: '', finishReason: 'ContentFilter' },
      moderation: { prompt: null, answer: { mode: 'refuse', withheld: threat } },
    });
    expect(await foundRuns(host, { moderationFlags: ['answer:violence'] })).toContain(answer.runId);
  });

  test.each(ways)('%s: only a key with the scope `audit` reads the withheld text and the reasoning', async (way) => {
    setGuard({ prompts: 'off', answers: 'refuse' });
    host.provider.answerWith((call) => call.chatAnswer({ content: threat, reasoning: `They want this: ${threat}` }));
    const key = host.issueKey({ scopes: ['run'] });
    const run = { ...minimalRequest, promptText: 'Write it.' };
    const { headers } = await callJson(host, way, 'POST', '/api/completions/sync', { key, body: run });
    const path = `/conversations/${headers['x-conversation-id']}`;
    const own = await callJson(host, way, 'GET', path, { key });
    expect(own.body.runs).toMatchObject([
      {
        output: { content: '', reasoning: null, finishReason: 'ContentFilter' },
        moderation: { prompt: null, answer: { mode: 'refuse', withheld: null } },
      },
    ]);
    expect(own.text).not.toContain('knife');
    expect(own.body.runs[0]).not.toHaveProperty('cost');
    const audited = await callJson(host, way, 'GET', path);
    expect(audited.body.runs).toMatchObject([
      { output: { reasoning: `They want this: ${threat}` }, moderation: { answer: { withheld: threat } } },
    ]);
  });

  test('a stream ends before its first flagged sentence', async () => {
    setGuard({ prompts: 'off', answers: 'refuse' });
    host.provider.answerWith((call) =>
      call.chatStream(['Here is the recipe. ', `${threat} `, 'Add two eggs. ', 'Stir.']),
    );
    const { text } = await send('/api/completions/stream');
    const chunks = JSON.parse(text) as {
      choice: { finish_reason?: string; message: { content?: string } };
      runId: string;
    }[];
    expect(chunks.map(({ choice }) => choice.finish_reason ?? choice.message.content)).toEqual([
      'Here is the recipe. ',
      'ContentFilter',
    ]);
    expect(host.host.storage.runs.read(chunks[0]!.runId)?.output.content).toBe('Here is the recipe. ');
  });
});

describe('with the guard only logging', () => {
  test('nothing changes for the caller, and the audit finds the run by its flags', async () => {
    setGuard({ prompts: 'note', answers: 'note' });
    host.provider.answerWith((call) => call.chatAnswer({ content: 'I cannot help with that.' }));
    const answer = JSON.parse((await send('/api/completions/sync', { promptText: threat })).text) as {
      runId: string;
      choices: { message: { content: string } }[];
    };
    expect(answer.choices[0]?.message.content).toBe('I cannot help with that.');
    expect(await foundRuns(host, { moderationFlags: ['prompt:violence'] })).toEqual([answer.runId]);
    const conversation = await host.send('in memory', {
      method: 'POST',
      path: '/audit/conversations',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${host.key}` },
      body: JSON.stringify({ conversationRunId: answer.runId }),
    });
    const [stored] = (JSON.parse(conversation.text) as { conversations: { runs: { moderation: unknown }[] }[] })
      .conversations;
    expect(stored?.runs[0]?.moderation).toMatchObject({ prompt: { mode: 'note' }, answer: { categories: [] } });
  });
});

test('without the guard a run has no findings', async () => {
  host.provider.answerWith((call) => call.chatAnswer({ content: threat }));
  const answer = JSON.parse((await send('/api/completions/sync', { promptText: threat })).text) as { runId: string };
  expect(host.host.storage.runs.read(answer.runId)).not.toHaveProperty('moderation');
});
