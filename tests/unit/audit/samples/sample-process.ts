import { writeSync } from 'node:fs';
import { createSamples } from '../../../../electron/audit/samples/create-samples.ts';
import { openStorage } from '../../../../electron/storage/open-storage.ts';

// Loads and removes the samples without end and prints a line after every slice that was written or removed.
const storage = openStorage({ directory: process.argv[2]! });
const samples = await createSamples({
  runs: storage.runs,
  store: {
    ...storage.samples,
    mark(ids) {
      storage.samples.mark(ids);
      writeSync(1, 'marked\n');
    },
    giveFeedback(feedback) {
      storage.samples.giveFeedback(feedback);
      writeSync(1, 'written\n');
    },
    removeSome(limit) {
      const hasMore = storage.samples.removeSome(limit);
      writeSync(1, 'removed\n');
      return hasMore;
    },
  },
});
for (;;) {
  await samples.load();
  await samples.remove();
}
