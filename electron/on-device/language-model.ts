import type { OnDeviceState } from '../../shared/contract/on-device.ts';
import type { Provider } from '../providers/provider.ts';

/**
 * The language models that run on this machine: their files and the engine that answers with one of them.
 * The engine lives in a process of its own, so that inference can neither block the host nor take it down.
 */
export interface OnDeviceLanguageModels {
  /** Answers with the selected model, one answer at a time; throws `model_not_installed` with the way to get it. */
  readonly provider: Provider;
  state(): OnDeviceState;
  /** Calls back whenever the state changes, at most five times a second; returns the function that ends it. */
  subscribe(listener: (state: OnDeviceState) => void): () => void;
  /** File name of the model that answers, or of the default one while none is installed. */
  selectedFileName(): string;
  /** Context size of that model in tokens; null while it is unknown. */
  selectedContextTokens(): number | null;
  /** Starts or resumes a fetch; resolves when it is under way, not when it is done. Unknown ids are `not_found`. */
  install(id: string): Promise<void>;
  /** Resolves when the model is installed and checked, rejects with the reason when it cannot be. */
  whenInstalled(id: string, options: { signal: AbortSignal }): Promise<void>;
  pause(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  select(id: string): Promise<void>;
  /** A GGUF file by absolute path, or `hf:` address. Bad addresses are `invalid_request`. */
  add(address: string): Promise<void>;
  /** Ends the engine and every fetch; what is on disk stays. */
  close(): Promise<void>;
}
