import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { createMemoryKeyStore } from '../../../electron/key-store/key-store.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import { createTeam } from '../../../electron/team/create-team.ts';
import { sampleOutcome, sampleRun } from '../storage/sample-run.ts';

// Records runs without end, gives feedback on some of them, and copies all of them to a team database. Prints each ID when it is finished.
const [dataDirectory, address] = process.argv.slice(2) as [string, string];
const storage = openStorage({ directory: dataDirectory });
createTeam({
  dataDirectory,
  storage,
  keyStore: createMemoryKeyStore(),
  team: address,
  environment: {},
  log: () => undefined,
});

async function recordForEver(lane: number): Promise<never> {
  const conversationId = randomUUID();
  for (let turn = 0; ; turn += 1) {
    // Half of the lanes continue one conversation.
    const run = sampleRun({ runId: randomUUID(), ...(lane % 2 === 0 && { conversationId }) });
    storage.runs.begin(run);
    for (let wait = 0; wait < lane; wait += 1) await new Promise(setImmediate);
    await storage.runs.finish(run.runId, sampleOutcome({ content: run.runId }));
    writeSync(1, `${run.runId}\n`);
    if (turn % 3 === 0) storage.audit.giveFeedback(run, { score: turn % 10 }, { reviewerId: 'nobody' });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

for (let lane = 0; lane < 4; lane += 1) void recordForEver(lane);
