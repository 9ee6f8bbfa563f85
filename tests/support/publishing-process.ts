import { writeSync } from 'node:fs';
import { createSharedQueue, startSharingHost } from './sharing-hosts.ts';

// A host that shares a queue and prints a line now and then until it is killed.
const [directory, team] = process.argv.slice(2) as [string, string];
const host = await startSharingHost({ team, directory });
setInterval(() => writeSync(1, 'waiting\n'), 50);
await createSharedQueue(host, 1);
