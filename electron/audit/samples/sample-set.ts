import { randomUUID } from 'node:crypto';
import { renderPrompt } from '../../completions/render-prompt.ts';
import type { SampleFeedback } from '../../storage/sample-store.ts';
import type { NewRun, RunOutcome } from '../../storage/storage.ts';
import { timeOrderedId } from '../../storage/time-ordered-id.ts';
import { type Chance, createChance } from './chance.ts';
import { callerOf } from './sample-callers.ts';
import { type SampleModel, sampleModels } from './sample-models.ts';
import { sampleOutcome } from './sample-outcome.ts';
import { fill, type Slots, slotsOf } from './sample-slots.ts';
import type { SampleTopic } from './sample-topic.ts';
import topicsByField from './sample-topics.json' with { type: 'json' };

interface Opinion {
  readonly text: string | null;
  readonly tags: string | null;
}

const good: readonly Opinion[] = [
  { text: 'Can be sent as it is.', tags: 'accurate,tone' },
  { text: 'Found the clause that I had missed.', tags: 'accurate,helpful' },
  { text: 'Exactly the right length.', tags: 'concise' },
  { text: null, tags: 'helpful' },
  { text: 'Better than the template we had.', tags: 'tone,helpful' },
];
const middling: readonly Opinion[] = [
  { text: 'Right, but twice as long as it needs to be.', tags: 'too long' },
  { text: 'Had to correct the date.', tags: 'accurate' },
  { text: null, tags: null },
];
const bad: readonly Opinion[] = [
  { text: 'Promises a refund that the policy does not give.', tags: 'wrong,policy' },
  { text: 'Repeats personal data that was not needed.', tags: 'privacy' },
  { text: 'Invented an order number.', tags: 'wrong,made up' },
  { text: 'Wrong tone for an angry customer.', tags: 'tone' },
];

/** What somebody thought of a run some hours later; null for four of five. */
function sampleFeedback(chance: Chance, runId: string, completedAt: number, now: number): SampleFeedback | null {
  if (!chance.happens(0.22)) return null;
  const mood = chance.next();
  const { text, tags } = chance.pick(mood < 0.55 ? good : mood < 0.78 ? middling : bad);
  const score = mood < 0.55 ? chance.between(5, 10) : mood < 0.78 ? chance.between(-1, 4) : chance.between(-10, -3);
  const updatedAt = Math.min(now, completedAt + chance.between(1, 48) * 3_600_000);
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

// Support writes most of it, as it would.
const topics = [topicsByField.support, ...Object.values(topicsByField)].flat() as unknown as readonly SampleTopic[];

const followUp = '{{instruction}}\n\n---\n{{text}}';

/** Working hours, and a little on other hours and weekends. */
function startTimes(chance: Chance, now: number): number[] {
  const times: number[] = [];
  while (times.length < sampleConversations) {
    const time = new Date(now - chance.next() * spanDays * day);
    const isWeekend = time.getUTCDay() % 6 === 0;
    const isWorkingHour = time.getUTCHours() >= 7 && time.getUTCHours() < 18;
    // An hour before now, so that the last run has ended.
    if (time.getTime() < now - 3_600_000 && chance.happens(isWeekend ? 0.08 : isWorkingHour ? 1 : 0.15)) {
      times.push(Math.floor(time.getTime()));
    }
  }
  return times.sort((one, other) => one - other);
}

function pickModel(chance: Chance): SampleModel {
  const total = sampleModels.reduce((sum, { weight }) => sum + weight, 0);
  let rest = chance.next() * total;
  return sampleModels.find(({ weight }) => (rest -= weight) < 0) ?? sampleModels[0]!;
}

/** What one run asks, before it is known how it ends. */
interface Question {
  readonly promptText: string;
  readonly replacements: Record<string, string>;
  readonly answer: string;
}

function questionsOf(topic: SampleTopic, slots: Slots): Question[] {
  const replacements = Object.fromEntries(
    Object.entries(topic.replacements).map(([name, text]) => [name, fill(text, slots)]),
  );
  const questions = [{ promptText: fill(topic.promptText, slots), replacements, answer: fill(topic.answer, slots) }];
  for (const { instruction, answer } of topic.next) {
    questions.push({
      promptText: followUp,
      replacements: { instruction, text: questions.at(-1)!.answer },
      answer: fill(answer, slots),
    });
  }
  return questions;
}

interface ConversationContext {
  readonly id: string;
  readonly topic: SampleTopic;
  readonly workspaceId: string | null;
  readonly appHeaders: Record<string, string>;
  readonly temperature: number;
}

function newRun(question: Question, model: SampleModel, createdAt: number, context: ConversationContext): NewRun {
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
    promptText: question.promptText,
    systemMessage: topic.systemMessage,
    replacements: question.replacements,
    renderedPrompt: renderPrompt(question.promptText, question.replacements).text,
    configuration: { ...(model.takesTemperature && { temperature }), max_tokens: 1024 },
    dataspaceIds: null,
    appHeaders: context.appHeaders,
    metadata: { sample: true, conversationId: context.id },
    warnings: [],
  };
}

function conversationOf(chance: Chance, start: number, now: number): SampleConversation {
  const topic = chance.pick(topics);
  const slots = slotsOf(chance);
  const context: ConversationContext = {
    id: timeOrderedId(start),
    topic,
    workspaceId: chance.happens(0.3) ? chance.pick(workspaces) : null,
    appHeaders: {
      team: topic.team,
      language: topic.language,
      release: chance.pick(['2026.3', '2026.4']),
      channel: chance.pick(['web', 'desk', 'batch']),
    },
    temperature: chance.pick([0, 0.2, 0.7]),
  };
  const runs: SampleRun[] = [];
  let model = pickModel(chance);
  let createdAt = start;
  for (const question of questionsOf(topic, slots)) {
    if (runs.length > 0 && chance.happens(0.2)) break;
    // A run that failed is tried again, and now and then another model is asked the same.
    for (let isAgain = true; isAgain && runs.length < maxRuns;) {
      const run = newRun(question, model, createdAt, context);
      const outcome = sampleOutcome(chance, model, run.renderedPrompt, question.answer, createdAt);
      runs.push({ run, outcome, feedback: sampleFeedback(chance, run.runId, outcome.completedAt, now) });
      createdAt = outcome.completedAt + chance.between(8, 240) * 1000;
      isAgain = outcome.status === 'Failed' || chance.happens(0.18);
      if (isAgain && chance.happens(0.6)) model = pickModel(chance);
    }
  }
  return { id: context.id, name: fill(topic.name, slots), callerId: callerOf[topic.team], runs };
}

/** The sample set as it would have come about in the 60 days before `now`, the oldest conversation first; texts never change. */
export function* createSampleSet(now: number): Generator<SampleConversation, void, void> {
  const chance = createChance(seed);
  for (const start of startTimes(chance, now)) yield conversationOf(chance, start, now);
}
