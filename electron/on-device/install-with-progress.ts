import type { OnDeviceModel } from '../../shared/contract/on-device.ts';
import { AppError } from '../../shared/app-error.ts';
import { byteText } from './model-file.ts';
import type { OnDeviceLanguageModels } from './create-language-models.ts';

export interface InstallWithProgressOptions {
  readonly signal: AbortSignal;
  /** Receives text with its line ends. */
  readonly write: (text: string) => void;
  /** Whether the progress line can be overwritten; otherwise a line is printed at every tenth. */
  readonly isTerminal?: boolean;
}

/**
 * Downloads a model and prints its size and licence, then progress, then the checksum. Retries after a failure while each
 * attempt receives more bytes. When the signal aborts, this pauses the download and throws the signal's reason; the next call
 * resumes it.
 */
export async function installWithProgress(
  models: OnDeviceLanguageModels,
  id: string,
  { signal, write, isTerminal = false }: InstallWithProgressOptions,
): Promise<void> {
  const read = () => {
    const model = models.state().models.find((candidate) => candidate.id === id);
    if (model) return model;
    throw new AppError('not_found', `On-device model ${JSON.stringify(id)} not found.`);
  };
  const start = read();
  if (start.state === 'installed') return;
  write(`${introduction(start)}\n`);
  const line = isTerminal ? createLine(write) : createTenths(write);
  const unsubscribe = models.subscribe(() => line.show(read()));
  try {
    await installAndRetry(models, id, signal, read, write);
  } catch (error) {
    if (signal.aborted) await models.pause(id);
    throw error;
  } finally {
    unsubscribe();
    line.end();
  }
  write(`Installed: ${read().fileName}, SHA-256 ${read().sha256}\n`);
}

async function installAndRetry(
  models: OnDeviceLanguageModels,
  id: string,
  signal: AbortSignal,
  read: () => OnDeviceModel,
  write: (text: string) => void,
): Promise<void> {
  for (let beforeBytes = -1; ;) {
    signal.throwIfAborted();
    await models.install(id);
    try {
      return await models.whenInstalled(id, { signal });
    } catch (error) {
      signal.throwIfAborted();
      const { receivedBytes, failure } = read();
      if (receivedBytes <= beforeBytes) throw error;
      beforeBytes = receivedBytes;
      write(`\n${failure ?? 'The download was paused.'} Retrying...\n`);
    }
  }
}

function introduction({ title, bytes, licence, receivedBytes, note }: OnDeviceModel): string {
  const details = [bytes === null ? 'size unknown' : byteText(bytes), licence].filter(Boolean).join(', ');
  const here = receivedBytes > 0 ? ` Resuming at ${byteText(receivedBytes)}.` : '';
  return `Downloading ${title} (${details}).${here} ${note}`;
}

function progressText({ receivedBytes, bytes, bytesPerSecond, step }: OnDeviceModel): string {
  const percent = bytes ? `${Math.floor((100 * receivedBytes) / bytes)} % ` : '';
  const total = bytes === null ? '' : ` of ${byteText(bytes)}`;
  const rate = bytesPerSecond === null ? '' : `, ${byteText(bytesPerSecond)}/s`;
  return `${percent}(${byteText(receivedBytes)}${total}${rate})${step ? `, ${step}` : ''}`;
}

interface ProgressLine {
  show(model: OnDeviceModel): void;
  end(): void;
}

function createLine(write: (text: string) => void): ProgressLine {
  let isOpen = false;
  return {
    show(model) {
      isOpen = true;
      // Returns to the first column and clears the rest of an earlier, longer line.
      write(`\r\u001b[K${progressText(model)}`);
    },
    end: () => write(isOpen ? '\n' : ''),
  };
}

function createTenths(write: (text: string) => void): ProgressLine {
  let shown = '';
  return {
    show(model) {
      const tenth = model.bytes ? Math.floor((10 * model.receivedBytes) / model.bytes) : 0;
      const key = `${tenth} ${model.step ?? ''}`;
      if (key === shown || model.step === null) return;
      shown = key;
      write(`${progressText(model)}\n`);
    },
    end() {},
  };
}
