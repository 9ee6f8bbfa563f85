import { installWithProgress } from '../on-device/install-with-progress.ts';
import type { OnDeviceLanguageModels } from '../on-device/create-language-models.ts';
import { defaultModelId } from '../on-device/model-catalogue.ts';
import type { Log } from './log.ts';

/**
 * Fetches the model that answers ServiceAi runs, unless one is there, and tells the terminal about it on stderr. The service
 * is not held up: never rejects, and a failure says how to go on.
 */
export async function fetchModel(
  models: OnDeviceLanguageModels,
  { signal, log }: { signal: AbortSignal; log: Log },
): Promise<void> {
  if (models.state().models.some(({ state }) => state === 'installed')) return;
  try {
    await installWithProgress(models, defaultModelId, {
      signal,
      write: (text) => void process.stderr.write(text),
      isTerminal: process.stderr.isTTY,
    });
  } catch (failure) {
    if (signal.aborted) return;
    log("Couldn't download the on-device model. Resume in Settings, or use a provider with a key.", failure);
  }
}
