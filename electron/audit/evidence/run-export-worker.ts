import { createWorkerClient, startThread } from '../../common/worker-client.ts';
import { workerUrl } from '../../common/worker-url.ts';
import type { ExportMethods, PackProgress, PackTask } from './export-worker.ts';
import type { PackResult } from './pack-state.ts';
import type { PreviewedRules, PreviewTask } from './preview-rules.ts';

/** A pattern or a long text can take minutes, so each task has a thread. */
function startExportWorker() {
  return createWorkerClient<ExportMethods>({
    name: 'The evidence pack',
    start: () => startThread(workerUrl(import.meta.url, 'export-worker')),
  });
}

const ended = new DOMException('The task is complete.', 'AbortError');

/** Writes a pack, from its last checkpoint on. After an abort it resolves with null as soon as the next checkpoint is on disk. */
export async function runPackWorker(
  task: PackTask,
  options: { readonly signal: AbortSignal; readonly onProgress: (progress: PackProgress) => void },
): Promise<PackResult | null> {
  const worker = startExportWorker();
  try {
    return await worker.call('writePack', task, { ...options, onAbort: 'wait' });
  } catch (error) {
    if (options.signal.aborted) return null;
    throw error;
  } finally {
    await worker.terminate(ended);
  }
}

export async function runPreviewWorker(task: PreviewTask, signal: AbortSignal): Promise<PreviewedRules> {
  const worker = startExportWorker();
  try {
    return await worker.call('preview', task, { signal });
  } finally {
    await worker.terminate(ended);
  }
}
