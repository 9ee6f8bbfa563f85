import { randomUUID } from 'node:crypto';
import { textOfMessages } from '../../../shared/contract/messages.ts';
import { renderPrompt } from '../../completions/render-prompt.ts';
import type { SampleFeedback } from '../../storage/sample-store.ts';
import type { NewRun, RunOutcome } from '../../storage/run-rows.ts';
import { timeOrderedId } from '../../storage/time-ordered-id.ts';
import { callerOf } from './sample-callers.ts';
import { sampleData, type SampleTopic } from './sample-data.ts';
import { createSeededRandom, type SeededRandom } from '../../../shared/seeded-random.ts';
import type { AiSystem, KeyedProvider } from '../../../shared/contract/common.ts';
import type { Usage } from '../../../shared/contract/completions.ts';
import { findEntry } from '../../providers/catalogue.ts';
import { cataloguePrices, costOf, endpointPrices, type ModelPrices } from '../../providers/model-prices.ts';

/** A model of the samples: its prices and approximate speed. */
interface SampleModel {
  readonly aiSystem: AiSystem;
  readonly model: string;
  readonly servedBy: string;
  /** Null if they aren't published. */
  readonly prices: ModelPrices | null;
  readonly takesTemperature: boolean;
  readonly firstTokenMs: number;
  readonly tokensPerSecond: number;
  /** How often it is used. */
  readonly weight: number;
}

type Speed = Pick<SampleModel, 'firstTokenMs' | 'tokensPerSecond'>;

function listed(aiSystem: KeyedProvider, name: string, weight: number, speed: Speed): SampleModel {
  const entry = findEntry(aiSystem, name);
  return {
    aiSystem,
    model: name,
    servedBy: `${aiSystem}/${name}`,
    prices: cataloguePrices(entry),
    takesTemperature: entry?.sampling === 'always',
    weight,
    ...speed,
  };
}

const local = {
  prices: { ...endpointPrices({ inputPrice: 0, outputPrice: 0 }), pricesFrom: '2026-11-22' },
  takesTemperature: true,
};

const sampleModels: readonly SampleModel[] = [
  {
    aiSystem: 'ServiceAi',
    model: 'hl-gpt-4.1-mini',
    servedBy: 'on-device/qwen3-0.6b-q8_0.gguf',
    weight: 5,
    firstTokenMs: 640,
    tokensPerSecond: 21,
    ...local,
  },
  listed('OpenAi', 'gpt-6.1-terra', 7, { firstTokenMs: 430, tokensPerSecond: 78 }),
  listed('OpenAi', 'gpt-6-luna', 6, { firstTokenMs: 380, tokensPerSecond: 95 }),
  listed('Anthropic', 'claude-sonnet-5-5', 5, { firstTokenMs: 510, tokensPerSecond: 110 }),
  listed('GoogleGemini', 'gemini-3.8-flash', 3, { firstTokenMs: 720, tokensPerSecond: 62 }),
  listed('Groq', 'openai/gpt-oss-120b', 3, { firstTokenMs: 190, tokensPerSecond: 280 }),
  {
    aiSystem: 'OpenAiCompatible',
    model: 'workshop/qwen3-8b',
    servedBy: 'OpenAiCompatible/workshop/qwen3-8b',
    weight: 2,
    firstTokenMs: 900,
    tokensPerSecond: 34,
    ...local,
  },
];

function pickModel(random: SeededRandom): SampleModel {
  const total = sampleModels.reduce((sum, { weight }) => sum + weight, 0);
  let remaining = random.next() * total;
  return sampleModels.find(({ weight }) => (remaining -= weight) < 0) ?? sampleModels[0]!;
}

/** Approximate characters per token. */
const charactersOfToken = 4;

function usageOf(prompt: string, answer: string): Usage {
  const prompt_tokens = Math.ceil(prompt.length / charactersOfToken) + 8;
  const completion_tokens = Math.max(1, Math.ceil(answer.length / charactersOfToken));
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function failed(random: SeededRandom, createdAt: number): RunOutcome {
  const error = random.pick(sampleData.failures);
  const totalMs = error.code === 'provider_silent' ? 60_000 : random.between(180, 2400);
  return {
    status: 'Failed',
    content: '',
    reasoning: null,
    finishReason: 'Error',
    error,
    usage: null,
    cost: null,
    credits: 0,
    firstTokenMs: null,
    totalMs,
    completedAt: createdAt + totalMs,
    citations: [],
  };
}

/** A possible outcome of a run with this prompt and answer; one in twelve fails. */
function sampleOutcome(
  random: SeededRandom,
  model: SampleModel,
  prompt: string,
  answer: string,
  createdAt: number,
): RunOutcome {
  if (random.boolean(0.05)) return failed(random, createdAt);
  const isCancelled = random.boolean(0.035);
  const content = isCancelled ? answer.slice(0, Math.floor(answer.length * random.next())) : answer;
  const usage = usageOf(prompt, content);
  const firstTokenMs = Math.round(model.firstTokenMs * (0.6 + 0.5 * random.next() + 2 * random.next() ** 8));
  const totalMs = Math.round(
    firstTokenMs + (usage.completion_tokens * 1000) / (model.tokensPerSecond * (0.7 + 0.6 * random.next())),
  );
  return {
    status: isCancelled ? 'Cancelled' : 'Completed',
    content,
    reasoning: null,
    finishReason: isCancelled ? 'Cancelled' : 'Stop',
    error: null,
    usage: isCancelled ? null : usage,
    cost: isCancelled ? null : costOf(model.prices, usage),
    credits: 1,
    firstTokenMs,
    totalMs,
    completedAt: createdAt + totalMs,
    citations: [],
  };
}

const { opinions, values } = sampleData;

type Slots = Readonly<Record<string, string>>;

/** The values of all slots in one conversation. */
function pickSlots(random: SeededRandom): Slots {
  const person = random.pick(values.people);
  return {
    person,
    email: `${person.toLowerCase().replaceAll(/[^a-z]+/g, '.')}@example.com`,
    phone: random.pick(values.phones),
    card: random.pick(values.cards),
    iban: random.pick(values.ibans),
    city: random.pick(values.cities),
    street: random.pick(values.streets),
    product: random.pick(values.products),
    company: random.pick(values.companies),
    module: random.pick(values.modules),
    day: random.pick(values.days),
    month: random.pick(values.months),
    order: `NW-${random.between(20_000, 98_999)}`,
    amount: `${random.between(24, 480)}.${random.pick(['00', '50', '90', '95'])} EUR`,
    size: String(random.between(37, 47)),
    ip: `192.0.2.${random.between(2, 250)}`,
  };
}

function fillSlots(text: string, slots: Slots): string {
  return text.replaceAll(/\[(\w+)\]/g, (whole, name: string) => slots[name] ?? whole);
}

/** Feedback some hours after a run; null for four out of five. */
function sampleFeedback(random: SeededRandom, runId: string, completedAt: number, now: number): SampleFeedback | null {
  if (!random.boolean(0.22)) return null;
  const mood = random.next();
  const { text, tags } = random.pick(opinions[mood < 0.55 ? 'good' : mood < 0.78 ? 'middling' : 'bad']);
  const score = mood < 0.55 ? random.between(5, 10) : mood < 0.78 ? random.between(-1, 4) : random.between(-10, -3);
  const updatedAt = Math.min(now, completedAt + random.between(1, 48) * 3_600_000);
  return { runId, score, scoreText: text, scoreTags: tags, updatedAt };
}

export interface SampleRun {
  readonly run: NewRun;
  readonly outcome: RunOutcome;
  readonly feedback: SampleFeedback | null;
}

/** A conversation of the sample set with its runs, oldest first. */
export interface SampleConversation {
  readonly id: string;
  readonly name: string;
  readonly callerId: string;
  readonly runs: readonly SampleRun[];
}

export const sampleConversations = 300;
const maxRuns = 6;
const spanDays = 60;
const day = 86_400_000;
const seed = 20_261_120;

const workspaces = ['5a3b1e00-0000-4000-8000-0000000000a1', '5a3b1e00-0000-4000-8000-0000000000a2'];

// Most conversations are about support, so its topics count twice.
const topics = [sampleData.topics.support, ...Object.values(sampleData.topics)].flat();

const followUp = '{{instruction}}\n\n---\n{{text}}';

/** Working hours, with some runs at other times. */
function startTimes(random: SeededRandom, now: number): number[] {
  const times: number[] = [];
  while (times.length < sampleConversations) {
    const time = new Date(now - random.next() * spanDays * day);
    const isWeekend = time.getUTCDay() % 6 === 0;
    const isWorkingHour = time.getUTCHours() >= 7 && time.getUTCHours() < 18;
    // An hour before now, so that the last run has ended.
    if (time.getTime() < now - 3_600_000 && random.boolean(isWeekend ? 0.08 : isWorkingHour ? 1 : 0.15)) {
      times.push(Math.floor(time.getTime()));
    }
  }
  return times.sort((one, other) => one - other);
}

/** A run without its outcome. */
interface SampleRequest {
  readonly promptText: string;
  readonly replacements: Record<string, string>;
  readonly answer: string;
}

function requestsOf(topic: SampleTopic, slots: Slots): SampleRequest[] {
  const replacements = Object.fromEntries(
    Object.entries(topic.replacements).map(([name, text]) => [name, fillSlots(text, slots)]),
  );
  const requests = [
    { promptText: fillSlots(topic.promptText, slots), replacements, answer: fillSlots(topic.answer, slots) },
  ];
  for (const { instruction, answer } of topic.next) {
    requests.push({
      promptText: followUp,
      replacements: { instruction, text: requests.at(-1)!.answer },
      answer: fillSlots(answer, slots),
    });
  }
  return requests;
}

interface ConversationContext {
  readonly id: string;
  readonly topic: SampleTopic;
  readonly workspaceId: string | null;
  readonly appHeaders: Record<string, string>;
  readonly temperature: number;
}

function newRun(request: SampleRequest, model: SampleModel, createdAt: number, context: ConversationContext): NewRun {
  const { topic, temperature } = context;
  return {
    runId: timeOrderedId(createdAt),
    messageId: randomUUID(),
    conversationId: context.id,
    workspaceId: context.workspaceId,
    callerId: callerOf[topic.team],
    apiKeyId: null,
    promptId: null,
    promptVersionId: null,
    aiSystem: model.aiSystem,
    model: model.model,
    servedBy: model.servedBy,
    createdAt,
    promptText: request.promptText,
    systemMessage: topic.systemMessage,
    replacements: request.replacements,
    renderedPrompt: textOfMessages(renderPrompt(request.promptText, request.replacements).messages),
    configuration: { ...(model.takesTemperature && { temperature }), max_tokens: 1024 },
    dataspaceIds: null,
    appHeaders: context.appHeaders,
    metadata: { sample: true, conversationId: context.id },
    warnings: [],
  };
}

function conversationOf(random: SeededRandom, start: number, now: number): SampleConversation {
  const topic = random.pick(topics);
  const slots = pickSlots(random);
  const context: ConversationContext = {
    id: timeOrderedId(start),
    topic,
    workspaceId: random.boolean(0.3) ? random.pick(workspaces) : null,
    appHeaders: {
      team: topic.team,
      language: topic.language,
      release: random.pick(['2026.3', '2026.4']),
      channel: random.pick(['web', 'desk', 'batch']),
    },
    temperature: random.pick([0, 0.2, 0.7]),
  };
  const runs: SampleRun[] = [];
  let model = pickModel(random);
  let createdAt = start;
  for (const request of requestsOf(topic, slots)) {
    if (runs.length > 0 && random.boolean(0.2)) break;
    // A failed run is retried, and sometimes another model gets the same request.
    for (let isRepeated = true; isRepeated && runs.length < maxRuns;) {
      const run = newRun(request, model, createdAt, context);
      const outcome = sampleOutcome(random, model, run.renderedPrompt, request.answer, createdAt);
      runs.push({ run, outcome, feedback: sampleFeedback(random, run.runId, outcome.completedAt, now) });
      createdAt = outcome.completedAt + random.between(8, 240) * 1000;
      isRepeated = outcome.status === 'Failed' || random.boolean(0.18);
      if (isRepeated && random.boolean(0.6)) model = pickModel(random);
    }
  }
  return { id: context.id, name: fillSlots(topic.name, slots), callerId: callerOf[topic.team], runs };
}

/** The sample data: conversations of the 60 days before `now`, oldest first. Their texts are always the same. */
export function* createSampleSet(now: number): Generator<SampleConversation, void, void> {
  const random = createSeededRandom(seed);
  for (const start of startTimes(random, now)) yield conversationOf(random, start, now);
}
