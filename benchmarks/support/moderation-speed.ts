import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createGuard } from '../../electron/completions/guard.ts';
import { createModeration, type Moderation } from '../../electron/moderation/create-moderation.ts';
import { createEmbeddings } from '../../electron/on-device/embeddings.ts';
import type { ModelPart } from '../../electron/providers/provider.ts';
import { dataFiles, readLabelledTexts } from '../../scripts/moderation/corpus.ts';
import { defaultModerationSettings, type GuardSettings } from '../../shared/contract/moderation.ts';
import { median, percentile, row, type Row } from './report.ts';

/** Every sentence of the benign set occurs only once, because repeated passages are cached. */
const samples = 50;
const sentencesOfSample = 11;
const guardedSamples = 12;
const sentencesOfAnswer = 40;
const megabyte = 1_048_576;
const { signal } = new AbortController();
const unreachable = { sexual: 1, hatred: 1, harassment: 1, selfHarm: 1, violence: 1 };

function never(): never {
  throw new Error('No provider is asked');
}

/** Texts of everyday sentences, starting at the given one and numbered after the last one, so that none repeats. */
function createEverydayTexts() {
  const sentences = readLabelledTexts(dataFiles.benign).map(({ text }) => text);
  return (characters: number, first: number): string => {
    const parts: string[] = [];
    for (let index = first, length = 0; length < characters; index += 1) {
      const round = Math.floor(index / sentences.length);
      const sentence = `${round === 0 ? '' : `Day ${round}: `}${sentences[index % sentences.length]} `;
      parts.push(sentence);
      length += sentence.length;
    }
    return parts.join('').slice(0, characters);
  };
}

type EverydayText = ReturnType<typeof createEverydayTexts>;

async function times(count: number, act: (number: number) => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let number = 0; number < count; number += 1) {
    const startedAt = performance.now();
    await act(number);
    taken.push(performance.now() - startedAt);
  }
  return taken;
}

async function shortTexts(moderation: Moderation, everydayText: EverydayText): Promise<Row[]> {
  const [loading] = await times(1, () => moderation.classify('Hello', { signal }));
  const processor = process.cpuUsage();
  const taken = await times(samples, (number) =>
    moderation.classify(everydayText(500, number * sentencesOfSample), { signal }),
  );
  const { user, system } = process.cpuUsage(processor);
  return [
    row('first text, engine started', loading!, 'ms'),
    row('500 characters, p50', median(taken), 'ms', { max: 30 }),
    row('500 characters, p95', percentile(taken, 0.95), 'ms'),
    // The speed of an otherwise idle machine.
    row('500 characters, p5', percentile(taken, 0.05), 'ms'),
    row('500 characters, processor time', (user + system) / 1000 / samples, 'ms'),
  ];
}

/** Memory of the process in bytes, sampled in every turn of its loop. */
async function withPeak<Result>(work: Promise<Result>): Promise<number> {
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20);
  await work.finally(() => clearInterval(timer));
  return peak;
}

/** A long text, and how long it blocks the host's main thread: the delay of a run that streams meanwhile. */
async function largeText(moderation: Moderation, everydayText: EverydayText): Promise<Row[]> {
  const text = everydayText(megabyte, 1);
  const before = process.memoryUsage.rss();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedAt = performance.now();
  const peak = await withPeak(moderation.classify(text, { signal }));
  const taken = performance.now() - startedAt;
  delay.disable();
  return [
    row('1 MB', taken, 'ms'),
    row('1 MB, host held up, 99 % of the time at most', delay.percentile(99) / 1e6, 'ms'),
    row('1 MB, host held up at most', delay.max / 1e6, 'ms', { max: 100 }),
    row('1 MB, memory of the process before', before / megabyte, 'MB'),
    row('1 MB, memory beyond that at most', (peak - before) / megabyte, 'MB', { max: 200 }),
  ];
}

const answerCharacters = 2000;

/** An answer that arrives at once, in parts of a few characters: only the guard is measured. */
async function* partsOf(answer: string): AsyncGenerator<ModelPart> {
  for (let start = 0; start < answer.length; start += 5) {
    yield { type: 'text-delta', text: answer.slice(start, start + 5) };
  }
  yield { type: 'finish', finishReason: 'Stop', usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } };
}

async function guardedRuns(openModeration: () => Moderation, everydayText: EverydayText): Promise<Row[]> {
  const run = async (settings: GuardSettings) => {
    const moderation = openModeration();
    await moderation.classify('Hello', { signal });
    const guard = createGuard({ settings: () => settings, classifier: moderation });
    const taken = await times(guardedSamples, async (number) => {
      const prompt = {
        renderedPrompt: everydayText(500, number * sentencesOfSample),
        systemMessage: null,
        configuration: {},
      };
      const startedAt = await guard.begin(prompt, { signal });
      const answer = everydayText(answerCharacters, number * sentencesOfAnswer);
      const parts = partsOf(answer);
      for await (const _ of startedAt ? startedAt.screen(parts) : parts);
      await startedAt?.findings(answer);
    });
    await moderation.close();
    return taken;
  };
  const off = await run({ prompts: 'off', answers: 'off' });
  const prompts = await run({ prompts: 'refuse', answers: 'off' });
  const noted = await run({ prompts: 'off', answers: 'note' });
  const blocked = await run({ prompts: 'off', answers: 'refuse' });
  return [
    row('guard off, p50 a run', median(off), 'ms'),
    row('guard of prompts, 500 characters, p50 a run', median(prompts), 'ms'),
    row('guard notes answers, 2,000 characters, p50 a run', median(noted), 'ms'),
    row('guard refuses streamed answers, 2,000 characters, p50 a run', median(blocked), 'ms'),
  ];
}

/** Time and memory of the on-device classifier, and the time that the guard adds to a run. */
export async function moderationSpeed(): Promise<Row[]> {
  const embeddings = createEmbeddings();
  const openModeration = () =>
    createModeration({
      // A blocked text would end the measurement of times.
      settings: () => ({ ...defaultModerationSettings, thresholds: unreachable }),
      // The on-device classifier needs no provider.
      providers: { provider: never, endpointProvider: never, resolve: never, applicableConfiguration: never },
      embeddings,
    });
  const moderation = openModeration();
  const everydayText = createEverydayTexts();
  const rows = [
    ...(await shortTexts(moderation, everydayText)),
    ...(await largeText(moderation, everydayText)),
    ...(await guardedRuns(openModeration, everydayText)),
  ];
  await moderation.close();
  await embeddings.close();
  return rows;
}
