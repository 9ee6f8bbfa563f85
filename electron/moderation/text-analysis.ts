import { createWorkerClient, startThread } from '../common/worker-client.ts';
import { workerUrl } from '../common/worker-url.ts';
import type { AnalyzedWindow } from './analyze-text.ts';
import type { TextAnalysisMethods } from './text-analysis-worker.ts';

export interface TextAnalysis {
  /** `analyzeText` in a worker thread: 1 MB of text takes a second or two. Rejects when the signal is aborted. */
  analyze(input: string, options: { readonly signal: AbortSignal }): Promise<readonly AnalyzedWindow[]>;
  close(): Promise<void>;
}

/** Starts its thread with the first text. */
export function createTextAnalysis(): TextAnalysis {
  const worker = createWorkerClient<TextAnalysisMethods>({
    name: 'Text analysis',
    start: () => startThread(workerUrl(import.meta.url, 'text-analysis-worker')),
  });
  return {
    analyze: (input, { signal }) => worker.call('analyze', input, { signal }),
    close: () => worker.terminate(new DOMException('The host was closed.', 'AbortError')),
  };
}
