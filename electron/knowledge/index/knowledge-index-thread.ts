/** Entry point of the index thread; started by `create-knowledge-index.ts`. */
import { workerData } from 'node:worker_threads';
import { serveCalls } from '../../common/worker-server.ts';
import { createIdleTask } from '../../storage/idle-task.ts';
import { isDamage, removeIndexFile } from '../../storage/index-file.ts';
import { indexFile } from './passage-store.ts';
import { IndexEngine } from './index-engine.ts';

const { directory } = workerData as { directory: string };
let engine: IndexEngine | null = null;
/** Deletes removed passages, then erases what is left of them. */
const removal = createIdleTask(() =>
  withoutDamage(() => {
    const index = startedEngine();
    return index.purge() || index.erase();
  }),
);

function startedEngine(): IndexEngine {
  return (engine ??= new IndexEngine(directory));
}

/** The result of `act`, from a new and empty index if the current one is damaged. */
function withoutDamage<Result>(act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (!isDamage(error)) throw error;
    engine?.close();
    engine = null;
    removeIndexFile(indexFile(directory));
    sendEvent('lost');
    return act();
  }
}

function method<Input, Result>(run: (engine: IndexEngine, input: Input) => Result) {
  return (input: Input): Result => {
    try {
      return withoutDamage(() => run(startedEngine(), input));
    } finally {
      removal.noteQuery();
      removal.start();
    }
  };
}

const methodNames = [
  'begin',
  'add',
  'finish',
  'removeSources',
  'removeDataspace',
  'sources',
  'search',
  'passages',
  'read',
] as const;

export type IndexMethods = Pick<IndexEngine, (typeof methodNames)[number]>;

const methods = Object.fromEntries(
  methodNames.map((name) => [name, method((index, input) => index[name](input as never))]),
);

/** The only event is `lost`: the index was damaged, and a new, empty one replaces it. */
const sendEvent = serveCalls<'lost'>(methods, {
  onDispose() {
    removal.stop();
    engine?.close();
  },
});
removal.start();
