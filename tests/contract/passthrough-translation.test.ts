import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { guardOf, threat } from '../support/guarded-host.ts';
import { pngOf } from '../support/image-files.ts';
import { readAll, startTestHost, type TestHost } from '../support/test-host.ts';

let host: TestHost;
let client: OpenAI;
beforeAll(async () => {
  host = await startTestHost();
  const route = { kind: 'provider' as const, aiSystem: 'OpenAiCompatible' as const, model: 'scripted/model' };
  host.host.storage.settings.update({ serviceRoutes: { 'hl-gpt-4o-mini': route, 'hl-gpt-4.1-mini': route } });
  client = new OpenAI({ baseURL: `${host.listener.address}/openai/v1`, apiKey: host.key, maxRetries: 0 });
});
afterAll(() => host.close());
const setGuard = guardOf(() => host);
beforeEach(() =>
  host.provider.answerWith((call) =>
    call.body['stream'] === true ? call.chatStream(['Bl', 'ue.']) : call.chatAnswer({ content: 'Blue.' }),
  ),
);

const question = { role: 'user' as const, content: 'Which {{colour}} is {{#each sky}}it{{/each}}?' };

function sentMessages(): unknown {
  return host.provider.calls.at(-1)!.body['messages'];
}

describe("an OpenAI client with one of Touchstone's models", () => {
  test("gets an answer of the service's model, and its text is no template", async () => {
    const { data, response } = await client.chat.completions
      .create({
        model: 'service/hl-gpt-4o-mini',
        temperature: 0.5,
        max_completion_tokens: 9,
        messages: [{ role: 'system', content: 'Be brief.' }, question],
      })
      .withResponse();
    expect(data).toMatchObject({
      object: 'chat.completion',
      model: 'service/hl-gpt-4o-mini',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Blue.' } }],
      usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
    });
    expect(sentMessages()).toEqual([{ role: 'system', content: 'Be brief.' }, question]);
    expect(host.host.storage.runs.read(response.headers.get('x-touchstone-run-id')!)).toMatchObject({
      aiSystem: 'ServiceAi',
      origin: { api: 'openai-chat' },
      title: question.content,
      input: { configuration: { temperature: 0.5, max_tokens: 9 }, systemMessage: 'Be brief.' },
      output: { content: 'Blue.' },
    });
  });

  test('gets it as a stream, with the usage if it asks for it', async () => {
    const stream = await client.chat.completions.create({
      model: 'service/hl-gpt-4o-mini',
      messages: [question],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let tokens = 0;
    let reason: string | null = null;
    for await (const { choices, usage } of stream) {
      text += choices[0]?.delta.content ?? '';
      reason ??= choices[0]?.finish_reason ?? null;
      tokens ||= usage?.total_tokens ?? 0;
    }
    expect({ text, tokens, reason }).toEqual({ text: 'Blue.', tokens: 12, reason: 'stop' });
  });

  test('calls tools and sends their results, in one conversation', async () => {
    const tools = [
      { type: 'function' as const, function: { name: 'look', parameters: { type: 'object', properties: {} } } },
    ];
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Look at the sky' }];
    host.provider.answerWith((call) => call.chatCalls([{ id: 'call_1', name: 'look', arguments: '{}' }]));
    const runner = client.chat.completions.stream({ model: 'service/hl-gpt-4o-mini', messages, tools });
    const first = await runner.finalChatCompletion();
    const { message } = first.choices[0]!;
    expect(message.tool_calls).toMatchObject([{ id: 'call_1', function: { name: 'look', arguments: '{}' } }]);
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const { data, response } = await client.chat.completions
      .create({
        model: 'service/hl-gpt-4o-mini',
        tools,
        messages: [...messages, message as never, { role: 'tool', tool_call_id: 'call_1', content: 'It is blue' }],
      })
      .withResponse();
    expect(data.choices[0]!.message.content).toBe('Blue.');
    expect(sentMessages()).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', content: 'It is blue' },
    ]);
    const conversation = await host.send('HTTP/1.1', {
      path: `/conversations/${response.headers.get('x-touchstone-conversation-id')}`,
      headers: { authorization: `Bearer ${host.key}` },
    });
    expect(JSON.parse(conversation.text).runs).toHaveLength(2);
  });

  test.each([false, true])(
    'stays in its conversation although another one began alike, as a stream: %s',
    async (stream) => {
      const model = 'service/hl-gpt-4o-mini';
      const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }];
      const call = { id: 'call_1', name: 'look', arguments: '{"at":"sky"}' };
      const beginning = [{ role: 'user' as const, content: `Hello, as a stream: ${stream}` }];
      const conversationOf = async (messages: OpenAI.ChatCompletionMessageParam[]) => {
        const { data, response } = await client.chat.completions
          .create({ model, stream, tools, messages })
          .withResponse();
        if ('controller' in data) for await (const _ of data);
        return response.headers.get('x-touchstone-conversation-id');
      };
      const answered = await conversationOf(beginning);
      const calls = [{ id: call.id, type: 'function' as const, function: { name: 'look', arguments: call.arguments } }];
      const message = { role: 'assistant', content: 'I look.', tool_calls: calls };
      host.provider.answerWith((received) =>
        stream
          ? received.chatCalls([call], 'I look.')
          : received.json(200, { id: 'chat_1', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
      );
      const called = await conversationOf(beginning);
      host.provider.answerWith((received) =>
        received.body['stream'] === true ? received.chatStream(['Grey.']) : received.chatAnswer({ content: 'Grey.' }),
      );
      const other = await conversationOf(beginning);
      expect(new Set([answered, called, other]).size).toBe(3);
      const next = { role: 'user' as const, content: 'And at night?' };
      expect([
        await conversationOf([...beginning, { role: 'assistant', content: 'Blue.' }, next]),
        await conversationOf([
          ...beginning,
          { role: 'assistant', content: 'I look.', tool_calls: calls },
          { role: 'tool', tool_call_id: call.id, content: 'It is blue' },
        ]),
        await conversationOf([...beginning, { role: 'assistant', content: 'Grey.' }, next]),
      ]).toEqual([answered, called, other]);
    },
  );

  test('runs a stored prompt by its name and label, with its variables', async () => {
    const { prompts } = host.host.storage;
    const version = {
      systemMessage: 'Answer as {{role}}.',
      aiSystem: null,
      model: null,
      configuration: null,
      note: null,
    };
    const variables = [{ name: 'tone' }, { name: 'text' }].map((variable) => ({
      ...variable,
      description: null,
      defaultValue: null,
      sampleValue: null,
    }));
    const prompt = prompts.create(
      { name: 'Reply', folder: null, tags: [], description: null } as never,
      { ...version, promptText: 'In a {{tone}} tone: {{text}}', variables } as never,
    );
    prompts.setLabel(prompt.id, 'live', { promptVersionId: prompt.latestVersionId } as never);
    prompts.addVersion(prompt.id, { ...version, promptText: 'Newer', variables: [] } as never);
    const { response } = await client.chat.completions
      .create({
        model: 'prompt/reply@live',
        metadata: { tone: 'kind' },
        messages: [{ role: 'user', content: 'Hi {{x}}' }],
      })
      .withResponse();
    expect(sentMessages()).toEqual([
      { role: 'system', content: 'Answer as {{role}}.' },
      { role: 'user', content: 'In a kind tone: Hi {{x}}' },
    ]);
    const { data } = prompts.listUsage(prompt.id, { pageSize: 10, continuationToken: null });
    expect(data.map(({ promptVersionId }) => promptVersionId)).toContain(prompt.latestVersionId);
    expect(response.headers.get('x-touchstone-recorded')).toBe('all');
  });

  test('runs a stored prompt with several roles, and continues it without repeating them', async () => {
    const { prompts } = host.host.storage;
    const promptText = '{{role "system"}}Be {{tone}}.{{role "user"}}Mend: {{text}}';
    const variables = ['tone', 'text'].map((name) => ({
      name,
      description: null,
      defaultValue: name === 'tone' ? 'kind' : null,
      sampleValue: null,
    }));
    const prompt = prompts.create(
      { name: 'Mender', folder: null, tags: [], description: null } as never,
      {
        promptText,
        variables,
        systemMessage: null,
        aiSystem: null,
        model: null,
        configuration: null,
        note: null,
      } as never,
    );
    prompts.setLabel(prompt.id, 'live', { promptVersionId: prompt.latestVersionId } as never);
    const model = 'prompt/Mender@live';
    await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'I is {{x}}' }] });
    const mended = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Mend: I is {{x}}' },
    ];
    expect(sentMessages()).toEqual(mended);
    const called = { id: 'c', type: 'function' as const, function: { name: 'look', arguments: '{}' } };
    await client.chat.completions.create({
      model,
      messages: [
        { role: 'user', content: 'I is {{x}}' },
        { role: 'assistant', content: null, tool_calls: [called] },
        { role: 'tool', tool_call_id: 'c', content: 'Seen' },
      ],
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
    });
    expect(sentMessages()).toMatchObject([...mended, { role: 'assistant' }, { role: 'tool', content: 'Seen' }]);
    const first = await client.responses.create({ model, input: 'I is {{x}}' });
    expect(sentMessages()).toEqual(mended);
    await client.responses.create({ model, input: 'You is', previous_response_id: first.id });
    const roles = (sentMessages() as { role: string; content: string }[]).map(({ role, content }) => [role, content]);
    expect(roles.filter(([role]) => role === 'system')).toEqual([['system', 'Be kind.']]);
    expect(roles.filter(([role]) => role !== 'system')).toEqual([
      ['user', 'Mend: I is {{x}}'],
      ['assistant', 'Blue.'],
      ['user', 'Mend: You is'],
    ]);
  });

  async function createAgent(name: string, prompt: string): Promise<void> {
    const created = await host.send('HTTP/1.1', {
      method: 'POST',
      path: '/v1/agents',
      headers: { authorization: `Bearer ${host.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name, model: 'hl-gpt-4o-mini', prompt }),
    });
    expect(created.status).toBe(201);
  }

  test.each([
    ['a text', 'You rhyme.', ''],
    ['a template', '{{role "system"}}You rhyme.{{history}}{{role "user"}}Say: {{message}}', 'Say: '],
  ])('continues an agent by the ID of a response; its prompt is %s', async (kind, prompt, before) => {
    const name = `Rhymer of ${kind}`;
    await createAgent(name, prompt);
    const model = `agent/${name}`;
    const first = await client.responses.create({ model, input: 'One {{x}}' });
    const second = await client.responses.create({ model, input: 'Two', previous_response_id: first.id });
    expect(sentMessages()).toEqual([
      { role: 'system', content: 'You rhyme.' },
      { role: 'user', content: `${before}One {{x}}` },
      { role: 'assistant', content: 'Blue.' },
      { role: 'user', content: `${before}Two` },
    ]);
    const runs = [first, second].map(({ id }) => host.host.storage.runs.read(id.slice('resp_'.length))!);
    expect(runs[1]!.conversationId).toBe(runs[0]!.conversationId);
  });

  test('sends the results of tools to an agent as its own endpoint does', async () => {
    await createAgent('Toolsmith', '{{role "system"}}You look.{{history}}{{role "user"}}Say: {{message}}');
    const called = { id: 'c', type: 'function' as const, function: { name: 'look', arguments: '{}' } };
    const messages = [
      { role: 'user' as const, content: 'One' },
      { role: 'assistant' as const, content: 'Blue.' },
      { role: 'user' as const, content: 'Two {{x}}' },
      { role: 'assistant' as const, content: null, tool_calls: [called] },
      { role: 'tool' as const, tool_call_id: 'c', content: 'Seen' },
    ];
    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }];
    await client.chat.completions.create({ model: 'agent/Toolsmith', messages, tools });
    expect(sentMessages()).toMatchObject([
      { role: 'system', content: 'You look.' },
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Blue.' },
      { role: 'user', content: 'Say: Two {{x}}' },
      { role: 'assistant', tool_calls: [called] },
      { role: 'tool', content: 'Seen' },
    ]);
    const [newest] = host.host.storage.runs.list({
      pageSize: 1,
      continuationToken: undefined,
      draftId: undefined,
    }).data;
    expect(host.host.storage.runs.read(newest!.runId)).toMatchObject({ input: { promptText: 'Two {{x}}' } });
  });

  test('sends the files of the last message to an agent after its template', async () => {
    await createAgent('Watcher', '{{role "system"}}You look.{{history}}{{role "user"}}Say: {{message}}');
    const url = `data:image/png;base64,${pngOf().toString('base64')}`;
    const image = { type: 'image_url' as const, image_url: { url } };
    const content = [{ type: 'text' as const, text: 'What is it?' }, image];
    await client.chat.completions.create({ model: 'agent/Watcher', messages: [{ role: 'user', content }] });
    expect(sentMessages()).toMatchObject([
      { role: 'system', content: 'You look.' },
      { role: 'user', content: 'Say: What is it?' },
      { role: 'user', content: [{ type: 'image_url' }] },
    ]);
  });

  test.each([
    ['https://a.test/b.png', 'https://a.test/b.png'],
    ['file-1', 'file-1'],
    ['data:image/png,abc', 'data:image/png,abc'],
    ['data:image/png;base64,', 'image/png'],
  ])('is told that a model would not get the image %s', async (url, name) => {
    const before = host.provider.calls.length;
    const rejected = (param: string) => ({
      status: 400,
      param,
      message: expect.stringContaining(`"${name}"`) as string,
    });
    const model = 'service/hl-gpt-4o-mini';
    const shown = { type: 'image_url' as const, image_url: { url } };
    const chat = client.chat.completions.create({ model, messages: [question, { role: 'user', content: [shown] }] });
    await expect(chat).rejects.toMatchObject(rejected('messages'));
    const image = { type: 'input_image' as const, image_url: url, detail: 'auto' as const };
    const response = client.responses.create({ model, input: [{ role: 'user', content: [image] }] });
    await expect(response).rejects.toMatchObject(rejected('input'));
    expect(host.provider.calls).toHaveLength(before);
  });

  test('may offer functions without parameters, and is told what is wrong with one', async () => {
    const model = 'service/hl-gpt-4o-mini';
    const parameters = { type: 'object', properties: {}, additionalProperties: false };
    const sent = { tools: [{ type: 'function', function: { name: 'look', parameters } }] };
    const chatTools = [{ type: 'function' as const, function: { name: 'look' } }];
    await client.chat.completions.create({ model, messages: [question], tools: chatTools });
    expect(host.provider.calls.at(-1)!.body).toMatchObject(sent);
    const tools = [{ type: 'function' as const, name: 'look', parameters: null, strict: null }];
    await client.responses.create({ model, input: 'Hello', tools });
    expect(host.provider.calls.at(-1)!.body).toMatchObject(sent);
    const unnamed = [{ type: 'function' as const, function: { name: 'look at' } }];
    await expect(client.chat.completions.create({ model, messages: [question], tools: unnamed })).rejects.toMatchObject(
      {
        status: 400,
        param: 'tools[0].function.name',
        message: expect.stringContaining('letters') as string,
      },
    );
  });

  test('runs an agent by its name', async () => {
    await createAgent('Guide', 'You are a guide.');
    await client.chat.completions.create({ model: 'agent/guide', messages: [question] });
    expect(sentMessages()).toEqual([{ role: 'system', content: 'You are a guide.' }, question]);
  });

  test.each([
    ['service/none', 400],
    ['agent/nobody', 400],
    ['prompt/nothing@live', 400],
    ['on-device/none.gguf', 400],
  ])('gets an error that it understands for %s', async (model, status) => {
    const failing = client.chat.completions.create({ model, messages: [question] });
    await expect(failing).rejects.toMatchObject({ status, param: 'model' });
  });

  test('gets errors of the guard about the fields that it sent', async () => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    const model = 'service/hl-gpt-4o-mini';
    const messages = [{ role: 'user' as const, content: threat }];
    const blocked = { status: 400, type: 'invalid_request_error' };
    await expect(client.chat.completions.create({ model, messages })).rejects.toMatchObject({
      ...blocked,
      param: 'messages',
    });
    const { responses } = client;
    await expect(responses.create({ model, input: threat })).rejects.toMatchObject({ ...blocked, param: 'input' });
    const instructed = responses.create({ model, input: 'Hello', instructions: threat });
    await expect(instructed).rejects.toMatchObject({ ...blocked, param: 'instructions' });
  });

  test('that leaves ends the call at the provider', async () => {
    host.provider.answerWith(null);
    const pending = host.begin('HTTP/1.1', {
      method: 'POST',
      path: '/openai/v1/chat/completions',
      headers: { authorization: `Bearer ${host.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'service/hl-gpt-4o-mini', messages: [question], stream: true }),
    });
    const call = await host.provider.nextCall();
    await call.openEventStream().chatDelta({ content: 'Bl' });
    const response = await pending.response;
    response.leave();
    await call.closed;
    await readAll(response.body).catch(() => undefined);
    const runId = String(response.headers['x-touchstone-run-id']);
    await expect.poll(() => host.host.storage.runs.read(runId)?.status).toBe('Cancelled');
  });

  test('that leaves before it reads the answer ends its run', async () => {
    const leaving = new AbortController();
    const request = new Request('http://127.0.0.1/openai/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${host.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'service/hl-gpt-4o-mini', messages: [question], stream: true }),
      signal: leaving.signal,
    });
    const response = await host.host.api.fetch(request, { access: 'network' });
    leaving.abort();
    await response.body!.cancel();
    const runId = response.headers.get('x-run-id')!;
    await expect.poll(() => host.host.completions.active(runId)).toBeNull();
  });
});

describe("the responses of one of Touchstone's models", () => {
  const model = 'service/hl-gpt-4o-mini';

  test('are whole, with instructions, parameters and usage', async () => {
    const { data, response } = await client.responses
      .create({
        model,
        instructions: 'Be {{brief}}.',
        input: 'Which {{colour}}?',
        max_output_tokens: 20,
        reasoning: { effort: null },
        text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: true } },
      })
      .withResponse();
    expect(data).toMatchObject({
      object: 'response',
      status: 'completed',
      model,
      output_text: 'Blue.',
      instructions: 'Be {{brief}}.',
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Blue.' }] }],
      usage: { input_tokens: 7, output_tokens: 5, total_tokens: 12 },
    });
    expect(sentMessages()).toEqual([
      { role: 'system', content: 'Be {{brief}}.' },
      { role: 'user', content: 'Which {{colour}}?' },
    ]);
    expect(host.provider.calls.at(-1)!.body).toMatchObject({
      max_tokens: 20,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true } },
    });
    const run = host.host.storage.runs.read(response.headers.get('x-touchstone-run-id')!);
    expect(run).toMatchObject({ origin: { api: 'openai-responses' }, output: { content: 'Blue.' } });
  });

  test('stream to the final response of the library', async () => {
    const types: string[] = [];
    const stream = client.responses.stream({ model, input: 'Which colour?' });
    stream.on('event', ({ type }) => void types.push(type));
    const final = await stream.finalResponse();
    expect(final).toMatchObject({ status: 'completed', output_text: 'Blue.', usage: { total_tokens: 12 } });
    expect(types).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  test.each([false, true])('call tools, and continue by the ID of a response; streamed: %s', async (isStreamed) => {
    const parameters = { type: 'object', properties: {} };
    const tools = [{ type: 'function' as const, name: 'look', parameters, strict: false }];
    const create = async (body: OpenAI.Responses.ResponseCreateParamsNonStreaming) =>
      isStreamed ? client.responses.stream(body as never).finalResponse() : client.responses.create(body);
    const calls = [
      { id: 'call_1', name: 'look', arguments: '{"at":"sky"}' },
      { id: 'call_2', name: 'look', arguments: '{}' },
    ];
    host.provider.answerWith((call) =>
      call.body['stream'] === true ? call.chatCalls(calls) : call.json(200, chatWith(calls)),
    );
    const first = await create({ model, input: 'Look at the sky', tools });
    const called = { type: 'function_call', name: 'look', status: 'completed' };
    expect(first.output).toMatchObject([
      { ...called, call_id: 'call_1', arguments: '{"at":"sky"}' },
      { ...called, call_id: 'call_2', arguments: '{}' },
    ]);
    host.provider.answerWith((call) =>
      call.body['stream'] === true ? call.chatStream(['Blue.']) : call.chatAnswer({ content: 'Blue.' }),
    );
    const outputs = ['call_1', 'call_2'].map((call_id) => ({
      type: 'function_call_output' as const,
      call_id,
      output: 'It is blue',
    }));
    const second = await create({ model, previous_response_id: first.id, input: outputs, tools });
    expect(second.output_text).toBe('Blue.');
    expect(sentMessages()).toMatchObject([
      { role: 'user', content: 'Look at the sky' },
      { role: 'assistant', tool_calls: [{ id: 'call_1' }, { id: 'call_2' }] },
      { role: 'tool', tool_call_id: 'call_1' },
      { role: 'tool', tool_call_id: 'call_2' },
    ]);
    const [one, other] = [first, second].map(({ id }) => host.host.storage.runs.read(id.slice('resp_'.length))!);
    expect(other!.conversationId).toBe(one!.conversationId);
  });

  test('reject what they cannot do, and a response of another key', async () => {
    const create = (body: object, apiKey = host.key) =>
      new OpenAI({ baseURL: `${host.listener.address}/openai/v1`, apiKey, maxRetries: 0 }).responses.create({
        model,
        input: 'Hello',
        ...body,
      } as never);
    await expect(create({ background: true })).rejects.toMatchObject({ status: 400, param: 'background' });
    const { id } = (await create({})) as { id: string };
    await expect(create({ previous_response_id: id }, host.issueKey())).rejects.toMatchObject({
      status: 400,
      param: 'previous_response_id',
    });
    await expect(create({ previous_response_id: 'resp_1' })).rejects.toMatchObject({ status: 400 });
    await expect(create({ model: 'agent/nobody' })).rejects.toMatchObject({ status: 400, param: 'model' });
  });

  test('fail in the middle of a stream with an error that the library throws', async () => {
    host.provider.answerWith(async (call) => {
      await call.openEventStream().chatDelta({ content: 'Bl' });
      call.cut();
    });
    const stream = await client.responses.create({ model, input: 'Hello', stream: true });
    const read = async () => {
      for await (const { type } of stream) expect(type).not.toBe('response.completed');
    };
    await expect(read()).rejects.toThrow(OpenAI.APIError);
  });
});

function chatWith(calls: readonly { id: string; name: string; arguments: string }[]) {
  const tool_calls = calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
  const message = { role: 'assistant', content: null, tool_calls };
  return {
    id: 'chat_1',
    object: 'chat.completion',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
  };
}
