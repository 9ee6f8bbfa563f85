/** Entry point of the thread that analyses texts for moderation; started by `text-analysis.ts`. */
import { serveCalls } from '../common/worker-server.ts';
import { analyzeText } from './windows.ts';
import { moderationWeights } from './linear-model.ts';

const methods = { analyze: (input: string) => analyzeText(input, moderationWeights()) };

export type TextAnalysisMethods = typeof methods;

serveCalls(methods);
