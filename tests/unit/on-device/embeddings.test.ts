// @module-tag slow
import { afterEach, describe, expect, it } from 'vitest';
import { createEmbeddings, type Embeddings, type EmbeddingsOptions } from '../../../electron/on-device/embeddings.ts';

const { signal } = new AbortController();
const opened: Embeddings[] = [];

function open(options?: EmbeddingsOptions): Embeddings {
  const embeddings = createEmbeddings(options);
  opened.push(embeddings);
  return embeddings;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

const texts = (count: number) =>
  Array.from({ length: count }, (_, index) => `${index} ${'green bottles '.repeat(index)}`);

describe('embeddings', () => {
  it('place texts of similar meaning nearer to each other', async () => {
    const [question, answer, other] = await open().embed(
      ['Where do I change my password?', 'Resetting a forgotten passphrase', 'The soup needs more salt.'],
      { signal },
    );
    const near = (first: Float32Array, second: Float32Array) =>
      first.reduce((sum, value, index) => sum + value * second[index]!, 0);
    expect(near(question!, answer!)).toBeGreaterThan(near(question!, other!) + 0.3);
  });

  it('are equal to the bit alone and in batches, on one thread and on several', async () => {
    const several = open({ threads: 4 });
    const one = open({ threads: 1 });
    const together = await several.embed(texts(24), { signal });
    const again = await Promise.all(texts(24).map(async (text) => (await one.embed([text], { signal }))[0]!));
    expect(again).toEqual(together);
    expect(several.model).toBe(one.model);
  });

  it('report every completed text', async () => {
    const reported: number[] = [];
    await open().embed(texts(6), { signal, onProgress: (done) => reported.push(done) });
    expect(reported).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await open().embed([], { signal })).toEqual([]);
  });

  it('complete a short call before a long one that came first', async () => {
    const embeddings = open({ threads: 1 });
    let done = 0;
    const started = Promise.withResolvers<void>();
    const long = embeddings.embed(texts(60), {
      signal,
      onProgress: (count) => {
        done = count;
        if (count === 3) started.resolve();
      },
    });
    await started.promise;
    await embeddings.embed(['A short question'], { signal });
    // Only the text that was under way came before it.
    expect(done).toBe(4);
    expect(await long).toHaveLength(60);
  });

  it('make progress on a long call while short ones keep coming', async () => {
    const embeddings = open({ threads: 1 });
    let isDone = false;
    const short = async () => {
      while (!isDone) await embeddings.embed(['short'], { signal });
    };
    const shorts = Array.from({ length: 6 }, short);
    expect(await embeddings.embed(texts(8), { signal })).toHaveLength(8);
    isDone = true;
    await Promise.all(shorts);
  });

  it('stop for an aborted call, and continue with the others', async () => {
    const embeddings = open({ threads: 1 });
    const controller = new AbortController();
    const left = embeddings.embed(texts(30), { signal: controller.signal, onProgress: () => controller.abort() });
    const stays = embeddings.embed(texts(3), { signal });
    await expect(left).rejects.toMatchObject({ name: 'AbortError' });
    expect(await stays).toHaveLength(3);
    await expect(embeddings.embed(['x'], { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
  });

  it("fail only for the call that can't be completed", async () => {
    const embeddings = open({ threads: 1 });
    const wrong = embeddings.embed([null as unknown as string], { signal });
    const right = embeddings.embed(['right'], { signal });
    await expect(wrong).rejects.toThrow(/Embedding failed/);
    expect(await right).toHaveLength(1);
  });

  it('work again after their idle threads have ended', async () => {
    const embeddings = open({ threads: 1, idleMinutes: 0 });
    const before = await embeddings.embed(['once'], { signal });
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(await embeddings.embed(['once'], { signal })).toEqual(before);
  });

  it('end active calls when they are disposed', async () => {
    const embeddings = open();
    const question = embeddings.embed(texts(10), { signal });
    const closing = embeddings.close();
    await expect(question).rejects.toMatchObject({ name: 'AbortError' });
    await closing;
    await expect(embeddings.embed(['late'], { signal })).rejects.toMatchObject({ name: 'AbortError' });
  });
});
