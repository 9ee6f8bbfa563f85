/**
 * Entry point of the thread that watches its process while the main thread may be busy: V8's own limit leaves
 * out what lies outside its heap, and a process in an endless loop does not notice that its parent has gone.
 */
import { workerData } from 'node:worker_threads';

const { memoryMegabytes, parentId } = workerData as { readonly memoryMegabytes: number; readonly parentId: number };

const checkMs = 100;
const megabyte = 1024 * 1024;

function hasParent(): boolean {
  try {
    process.kill(parentId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

setInterval(() => {
  const isTooLarge = process.memoryUsage.rss() > memoryMegabytes * megabyte;
  if (isTooLarge || !hasParent()) process.kill(process.pid, 'SIGKILL');
}, checkMs);
