/** Entry point of the thread that reads texts for moderation; started by `text-analysis.ts`. */
import { parentPort } from 'node:worker_threads';
import { analyzeText, type AnalyzedWindow } from './analyze-text.ts';
import { moderationWeights } from './weights.ts';

export interface AnalysisQuestion {
  readonly id: number;
  readonly input: string;
}

export type AnalysisAnswer =
  | { readonly id: number; readonly windows: readonly AnalyzedWindow[] }
  | { readonly id: number; readonly failure: string };

const port = parentPort!;

port.on('message', ({ id, input }: AnalysisQuestion) => {
  try {
    port.postMessage({ id, windows: analyzeText(input, moderationWeights()) } satisfies AnalysisAnswer);
  } catch (error) {
    const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
    port.postMessage({ id, failure } satisfies AnalysisAnswer);
  }
});
