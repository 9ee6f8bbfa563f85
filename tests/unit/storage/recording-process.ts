import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import { sampleCall, sampleOutcome, sampleRun } from './sample-run.ts';

// Records runs without end, several at a time, some of them after their begin was written, and prints each id when it is finished.
const storage = openStorage({ directory: process.argv[2]! });

async function recordForEver(turns: number, renderedPrompt: string): Promise<never> {
  for (;;) {
    const run = sampleRun({ runId: randomUUID(), renderedPrompt });
    storage.runs.begin(run);
    for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
    if (turns > 0) storage.runs.read(run.runId);
    await storage.runs.finish(
      run.runId,
      sampleOutcome({ content: run.runId, finishReason: 'ToolCalls', toolCalls: [sampleCall(run.runId)] }),
    );
    writeSync(1, `${run.runId}\n`);
  }
}

// The answer to a long prompt has a row of its own.
for (let lane = 0; lane < 6; lane += 1) void recordForEver(lane % 3, lane === 5 ? 'x'.repeat(300_000) : 'short');
