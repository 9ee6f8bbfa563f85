import type { CompiledModule } from './embeddings/web-assembly.ts';
import type { EmbeddingWeights } from './embeddings/weights.ts';

/** The model in memory, which all threads share. */
export interface SharedModel {
  readonly weights: EmbeddingWeights;
  readonly kernels: CompiledModule;
}

/** What a thread starts with: without a model it loads the model for all. */
export interface EmbeddingsThreadStart {
  readonly model: SharedModel | null;
  /** Which of the memory's workspaces is this thread's own, and how many there are. */
  readonly workspace: number;
  readonly workspaces: number;
}
