// Loaded into the measured host with --import: answers each message on the process channel with the longest delay of its event
// loop, and with the max processor time that its main thread used in one turn, which other programs on the machine don't add to.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const delays = monitorEventLoopDelay({ resolution: 5 });
delays.enable();

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
let before = cpuMs();
let longestTurn = 0;
setInterval(() => {
  const now = cpuMs();
  longestTurn = Math.max(longestTurn, now - before);
  before = now;
}, 1).unref();

process.on('message', () => {
  process.send({ loopMs: delays.max / 1e6, cpuMs: longestTurn });
  delays.reset();
  longestTurn = 0;
});
process.channel?.unref();
