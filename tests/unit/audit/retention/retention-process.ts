import { writeSync } from 'node:fs';
import { createRetention } from '../../../../electron/audit/retention/create-retention.ts';
import { openStorage } from '../../../../electron/storage/open-storage.ts';
import { now } from './retention-time.ts';

// Applies the retention of a folder; prints a line after every slice, and `done` when it is over.
const storage = openStorage({ directory: process.argv[2]! });
const retention = createRetention({
  store: {
    ...storage.retention,
    noteApplied(applied) {
      storage.retention.noteApplied(applied);
      writeSync(1, `${applied.runs}\n`);
    },
  },
  settings: storage.settings,
  log: (message, error) => console.error(message, error),
  now: () => now,
});
await retention.apply();
writeSync(1, 'done\n');
await retention.close();
await storage.close();
