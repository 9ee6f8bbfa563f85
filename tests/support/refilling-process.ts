import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { startSharingHost } from './sharing-hosts.ts';

// A host that adds the items of new days to its queue and prints a line now and then until it is killed.
const [directory, team, queueId] = process.argv.slice(2) as [string, string, string];
const host = await startSharingHost({ team, directory });
setInterval(() => writeSync(1, 'waiting\n'), 50);
for (;;) {
  await host.call('PATCH', `/review-queues/${queueId}`, { isOpen: true });
  await delay(50);
}
