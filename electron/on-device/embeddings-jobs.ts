/** A question under way. */
export interface EmbeddingsJob {
  readonly texts: readonly string[];
  readonly vectors: Float32Array[];
  /** Texts that were given to a thread, and those that are done. */
  given: number;
  done: number;
  readonly onProgress: ((done: number) => void) | undefined;
  readonly resolve: (vectors: Float32Array[]) => void;
  readonly reject: (error: Error) => void;
}

/** Questions with texts that no thread has yet. */
export interface EmbeddingsJobs {
  /** Texts of all that wait. */
  readonly texts: number;
  add(job: EmbeddingsJob): void;
  remove(job: EmbeddingsJob): void;
  /** The question whose turn it is, with the place of its text; it stays if it has more. */
  takeNext(): { readonly job: EmbeddingsJob; readonly index: number } | null;
}

/** Questions that had no turn yet go before others this many times one after the other, until it is the turn of those again. */
const newcomersInARow = 3;

/** A short question waits for one text of a whole book, but many short ones do not keep the book waiting for good. */
export function createEmbeddingsJobs(): EmbeddingsJobs {
  let jobs: EmbeddingsJob[] = [];
  let newcomers = 0;

  return {
    get texts() {
      return jobs.reduce((sum, { texts, given }) => sum + texts.length - given, 0);
    },
    add: (job) => jobs.push(job),
    remove(job) {
      jobs = jobs.filter((each) => each !== job);
    },
    takeNext() {
      const newcomer = jobs.findIndex(({ given }) => given === 0);
      const other = jobs.findIndex(({ given }) => given > 0);
      const isForNewcomer = other < 0 || (newcomer >= 0 && newcomers < newcomersInARow);
      const [job] = jobs.splice(isForNewcomer ? newcomer : other, 1);
      if (!job) return null;
      newcomers = isForNewcomer ? newcomers + 1 : 0;
      const index = job.given;
      job.given += 1;
      if (job.given < job.texts.length) jobs.push(job);
      return { job, index };
    },
  };
}
