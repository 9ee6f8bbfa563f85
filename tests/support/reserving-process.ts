import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { startSharingHost } from './sharing-hosts.ts';

// A host that reserves an item of a shared queue, prints the status, and then waits to be killed.
const [directory, team, queueId] = process.argv.slice(2) as [string, string, string];
const host = await startSharingHost({ team, directory });
while ((await host.call('GET', `/review-queues/${queueId}`)).status !== 200) await delay(50);
const { status } = await host.call('POST', `/review-queues/${queueId}/reservations`, {});
writeSync(1, `${status}\n`);
setInterval(() => undefined, 1000);
