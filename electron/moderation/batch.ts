import type { Batch, BatchResult, BatchText, CategoryScores } from '../../shared/contract/moderation-window.ts';
import { categories, type ModerationClassifier } from '../../shared/contract/moderation.ts';
import { AppError } from '../../shared/app-error.ts';
import { type Job, JobRun } from '../common/jobs.ts';
import type { Log } from '../log.ts';
import { forEachCategory, type Classifier } from './provider-classifiers.ts';

/** Consecutive failures after which a classifier stops: the next text would fail too. */
const maxFailures = 3;

const titleLength = 120;

/** Failures of the classifier, independent of the text. */
const lastingFailures = new Set(['provider_not_configured', 'provider_key_refused', 'model_not_installed']);

/** No score is above 1, so passages aren't searched. That makes a batch three times as fast. They are searched when a text is opened. */
const unreachable = forEachCategory(() => 2);

export interface BatchClassifier {
  readonly choice: ModerationClassifier;
  readonly classifier: Classifier;
}

interface Lane extends BatchClassifier {
  /** Five numbers per text, NaN for a missing one. */
  readonly scores: Float64Array;
  model: string | null;
  done: number;
  failed: number;
  startedAt: number;
  milliseconds: number;
  failure: { code: string; message: string } | null;
}

export interface ModerationBatchOptions {
  readonly id: string;
  readonly name: string;
  readonly texts: readonly BatchText[];
  readonly classifiers: readonly BatchClassifier[];
  readonly onChange: () => void;
  readonly log: Log;
}

/** A batch of texts for one or two classifiers, which work in parallel. */
export class ModerationBatch implements Job<Batch> {
  readonly #options: ModerationBatchOptions;
  readonly #lanes: Lane[];
  readonly #run = new JobRun();
  readonly #createdAt = new Date().toISOString();
  readonly #hasLabels: boolean;
  #state: Batch['state'] = 'running';

  constructor(options: ModerationBatchOptions) {
    this.#options = options;
    this.#hasLabels = options.texts.some(({ labels }) => labels != null);
    this.#lanes = options.classifiers.map((each) => ({
      ...each,
      scores: new Float64Array(options.texts.length * categories.length).fill(Number.NaN),
      model: null,
      done: 0,
      failed: 0,
      startedAt: performance.now(),
      milliseconds: 0,
      failure: null,
    }));
  }

  get id(): string {
    return this.#options.id;
  }

  state(): Batch {
    return {
      id: this.#options.id,
      name: this.#options.name,
      state: this.#state,
      total: this.#options.texts.length,
      hasLabels: this.#hasLabels,
      createdAt: this.#createdAt,
      classifiers: this.#lanes.map((lane) => ({
        classifier: lane.choice,
        model: lane.model,
        defaultThresholds: lane.classifier.presets.balanced,
        done: lane.done,
        failed: lane.failed,
        rate: lane.milliseconds === 0 ? 0 : (lane.done * 1000) / lane.milliseconds,
        failure: lane.failure,
      })),
    };
  }

  /** Ends when every classifier has classified all texts, has stopped after failures or was stopped. */
  start(): void {
    void this.#run.start(async (signal) => {
      await Promise.all(this.#lanes.map((lane) => this.#runLane(lane, signal)));
      if (signal.aborted) this.#state = 'stopped';
      else this.#state = this.#lanes.every(({ failure }) => failure !== null) ? 'failed' : 'completed';
    }, this.#options.onChange);
  }

  stop(): Promise<void> {
    return this.#run.stop();
  }

  async #runLane(lane: Lane, signal: AbortSignal): Promise<void> {
    let failures = 0;
    for (const [index, { text }] of this.#options.texts.entries()) {
      if (signal.aborted) return;
      try {
        const { model, scores } = await lane.classifier.classify(text, { thresholds: unreachable, signal });
        lane.model = model;
        lane.scores.set(
          categories.map((category) => scores[category]),
          index * categories.length,
        );
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        lane.failed += 1;
        const failure = this.#describe(error);
        if (lastingFailures.has(failure.code) || ++failures === maxFailures) {
          lane.failure = failure;
          this.#options.onChange();
          return;
        }
      }
      lane.done = index + 1;
      lane.milliseconds = performance.now() - lane.startedAt;
      this.#options.onChange();
    }
  }

  #describe(error: unknown): { code: string; message: string } {
    if (error instanceof AppError) return { code: error.code, message: error.message };
    this.#options.log('a text of a batch could not be classified', error);
    return { code: 'internal', message: 'Internal error. See the log for details.' };
  }

  text(index: number): string | null {
    return this.#options.texts[index]?.text ?? null;
  }

  results(offset: number, limit: number): BatchResult[] {
    return this.#options.texts.slice(offset, offset + limit).map(({ text, labels }, index) => ({
      title: titleOf(text),
      words: text.match(/\S+/g)?.length ?? 0,
      labels: labels ?? null,
      scores: this.#lanes.map((lane) => scoresAt(lane, offset + index)),
    }));
  }

  /** Every text with its scores, for an export. */
  *records(thresholds: readonly CategoryScores[]) {
    for (const [index, { text, labels }] of this.#options.texts.entries()) {
      const judged = this.#lanes.map((lane, laneIndex) => {
        const scores = scoresAt(lane, index);
        const limits = thresholds[laneIndex] ?? thresholds[0]!;
        const flagged = scores && categories.filter((category, at) => scores[at]! >= limits[category]);
        return { model: lane.model, scores, flagged };
      });
      yield { index: index + 1, text, labels: labels ?? null, judged };
    }
  }
}

function scoresAt({ scores }: Lane, index: number): number[] | null {
  const start = index * categories.length;
  const own = [...scores.subarray(start, start + categories.length)];
  return Number.isNaN(own[0]) ? null : own;
}

function titleOf(text: string): string {
  return text
    .slice(0, 4 * titleLength)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, titleLength)
    .replace(/[\uD800-\uDBFF]$/, '');
}
