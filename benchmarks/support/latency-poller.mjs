// A worker that repeats one cheap request, one after the other, and answers each message with the longest time that one took.
import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let longest = 0;
let startedAt = performance.now();

parentPort.on('message', () => {
  // A request that is still waiting counts with the time so far.
  parentPort.postMessage(Math.max(longest, performance.now() - startedAt));
  longest = 0;
});

function request() {
  return new Promise((resolve, reject) => {
    get(workerData.address, { agent, headers: workerData.headers }, (response) => {
      response.resume();
      response.on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(response.statusCode))));
    }).on('error', reject);
  });
}

for (;;) {
  startedAt = performance.now();
  await request();
  longest = Math.max(longest, performance.now() - startedAt);
  startedAt = Number.POSITIVE_INFINITY;
  await delay(2);
  startedAt = performance.now();
}
