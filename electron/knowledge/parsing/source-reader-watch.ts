/**
 * Entry point of the thread that watches its process while the main thread may be busy. V8's limit covers only its own heap, and a
 * process in an endless loop doesn't notice that its parent has exited.
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
