import { describe, expect, it } from 'vitest';
import type { ModelAnswer, ModelPart, ModelRequest, Provider } from '../../../electron/providers/provider.ts';
import { splitThinking } from '../../../electron/providers/split-thinking.ts';

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const { signal } = new AbortController();
const request: ModelRequest = { model: 'm', systemMessage: null, messages: [], configuration: {} };

/** A provider that answers each call with these texts, and with its own reasoning before them. */
function providerOf(
  texts: readonly string[],
  own: string | null = null,
  finishReason: ModelAnswer['finishReason'] = 'Stop',
) {
  const inner: Provider = {
    generate: async () => ({ content: texts.join(''), reasoning: own, finishReason, usage }),
    async *stream(): AsyncGenerator<ModelPart> {
      if (own !== null) yield { type: 'reasoning-delta', text: own };
      for (const text of texts) yield { type: 'text-delta', text };
      yield { type: 'finish', finishReason, usage };
    },
    listModels: async () => [],
  };
  return inner;
}

async function read(provider: Provider) {
  const result = { text: '', reasoning: '', stored: null as ModelPart | null };
  for await (const part of provider.stream(request, { signal })) {
    if (part.type === 'text-delta') result.text += part.text;
    else if (part.type === 'reasoning-delta') result.reasoning += part.text;
    else result.stored = part;
  }
  const corrected = result.stored?.type === 'finish' ? result.stored.corrected : undefined;
  return { text: result.text, reasoning: result.reasoning, ...(corrected && { corrected }) };
}

const characters = (text: string) => [...text];

describe('an answer as a whole', () => {
  it.each([
    ['<think>\nSo.\n</think>\n\nYes', 'So.', 'Yes'],
    ['\n<think>So.</think>Yes', 'So.', 'Yes'],
    ['<think>\n\n</think>\n\nYes', null, 'Yes'],
    ['<think>cut', 'cut', ''],
    ['So.\nThen.\n</think>\n\nYes', 'So.\nThen.', 'Yes'],
    ['</think>\nYes', null, 'Yes'],
    ['So.\r\n\t</think> \r\nYes', 'So.', 'Yes'],
    ['So\n`</think>`\n</think>\nYes', 'So\n`</think>`', 'Yes'],
    ['Close it with `</think>`.', null, 'Close it with `</think>`.'],
    ['Tags: <think> and </think> end', null, 'Tags: <think> and </think> end'],
    ['Use:\n```\n<think>\nHm\n</think>\nYes\n```', null, 'Use:\n```\n<think>\nHm\n</think>\nYes\n```'],
    ['Try\n <think>Hm\n</think>\nthen.\n</think>\nYes', 'Try\n <think>Hm\n</think>\nthen.', 'Yes'],
    ['The tag is `<think>`.\n</think>\nYes', 'The tag is `<think>`.', 'Yes'],
    ['', null, ''],
  ])('%j has the reasoning %j and the content %j', async (text, reasoning, content) => {
    const answer = await splitThinking(providerOf([text])).generate(request, { signal });
    expect(answer).toMatchObject({ reasoning, content });
  });

  it.each(['</think>', '</think> ', '\t</think>x\n', 'a\n </think>\t!\r\n', '\n<think>\n</think>'])(
    'of 4 MB of %j is left alone',
    async (unit) => {
      const text = unit.repeat(4_000_000 / unit.length);
      const answer = await splitThinking(providerOf([`a${text}`])).generate(request, { signal });
      expect([answer.reasoning, answer.content.length]).toEqual([null, text.length + 1]);
    },
  );

  it('stays unchanged if the provider separates the reasoning', async () => {
    const text = 'a\n</think>\nb';
    const answer = await splitThinking(providerOf([text], 'own')).generate(request, { signal });
    expect(answer).toMatchObject({ reasoning: 'own', content: text });
    expect(await read(splitThinking(providerOf([text], 'own')))).toEqual({ text, reasoning: 'own' });
  });
});

describe('a stream', () => {
  it.each([
    ['<think>So <b>.</think>\n\nYes < no', 'So <b>.', 'Yes < no'],
    ['  <think>cut', 'cut', ''],
    ['<thin', '', '<thin'],
    ['Yes, <think> is a tag', '', 'Yes, <think> is a tag'],
    ['So:\n<think>\nHm\n</think>\nYes', '', 'So:\n<think>\nHm\n</think>\nYes'],
    ['  ', '', '  '],
    [' \n Yes', '', ' \n Yes'],
  ])('%j is split while it streams, in chunks of any size', async (text, reasoning, answer) => {
    for (const texts of [[text], characters(text), [text.slice(0, 9), text.slice(9)]]) {
      expect(await read(splitThinking(providerOf(texts)))).toEqual({ text: answer, reasoning });
    }
  });

  it('is corrected at its end for a bare closing tag, and later ones of the model start as reasoning', async () => {
    const text = 'So.\n</think>\n\nYes';
    let inner = providerOf(characters(text));
    const provider = splitThinking({ ...inner, stream: (...input) => inner.stream(...input) });
    expect(await read(provider)).toEqual({ text, reasoning: '', corrected: { reasoning: 'So.', content: 'Yes' } });
    expect(await read(provider)).toEqual({ text: 'Yes', reasoning: 'So.\n' });
    inner = providerOf(['cut in its reas', 'oning'], null, 'Length');
    expect(await read(provider)).toEqual({ text: '', reasoning: 'cut in its reasoning' });
    inner = providerOf(['Plain ', 'text']);
    expect(await read(provider)).toMatchObject({
      text: 'Plain text',
      corrected: { content: 'Plain text', reasoning: null },
    });
    expect(await read(provider)).toEqual({ text: 'Plain text', reasoning: '' });
  });

  it('of a known model is split in chunks of any size', async () => {
    const text = 'So.\n</think>\n\nYes';
    for (const texts of [[text], characters(text)]) {
      const provider = splitThinking(providerOf(texts));
      await provider.generate(request, { signal });
      expect(await read(provider)).toEqual({ text: 'Yes', reasoning: 'So.\n' });
    }
  });
});

describe('texts that a reader takes while it waits', () => {
  /** Offers each text, and yields those that aren't taken. */
  function offering(texts: readonly string[]): Provider {
    return {
      ...providerOf(texts),
      async *stream(_, { takeText }): AsyncGenerator<ModelPart> {
        for (const text of texts) if (!takeText?.({ type: 'text-delta', text })) yield { type: 'text-delta', text };
        yield { type: 'finish', finishReason: 'Stop', usage };
      },
    };
  }

  async function readBoth(provider: Provider) {
    const taken: string[] = [];
    const parts: unknown[] = [];
    const takeText = ({ text }: { text: string }) => taken.push(text) > 0;
    for await (const part of provider.stream(request, { signal, takeText })) parts.push(part);
    return { taken, parts };
  }

  it('are those of the answer alone', async () => {
    const { taken, parts } = await readBoth(
      splitThinking(offering(['<thi', 'nk>So', '.</think>', '\n', 'Yes', ' and', ' no'])),
    );
    expect(taken).toEqual([' and', ' no']);
    expect(parts).toEqual([
      { type: 'reasoning-delta', text: 'So' },
      { type: 'reasoning-delta', text: '.' },
      { type: 'text-delta', text: 'Yes' },
      { type: 'finish', finishReason: 'Stop', usage },
    ]);
  });

  it('are reasoning if a closing tag follows, from the next answer on at once', async () => {
    const provider = splitThinking(offering(['So', '.\n', '</think>', '\nYes']));
    const { taken, parts } = await readBoth(provider);
    expect(taken).toEqual(['.\n', '</think>', '\nYes']);
    expect(parts.at(-1)).toMatchObject({ type: 'finish', corrected: { content: 'Yes', reasoning: 'So.' } });
    expect((await readBoth(provider)).taken).toEqual([]);
  });
});
