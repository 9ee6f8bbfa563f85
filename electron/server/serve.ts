import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../shared/app-error.ts';
import { tuneEngine } from '../common/tune-engine.ts';
import { createHost, type Host } from '../create-host.ts';
import { useNetwork } from '../outgoing-network.ts';
import { createDownloadTickets, downloadHandlers, type DownloadTickets } from './browser-window.ts';
import { UsageError } from './command-line.ts';
import { defaultPort, readServeOptions, serveHelp, type ServeOptions } from './host-options.ts';
import { listen, type Listener, protocols } from './listen.ts';
import { describeFailure, redactLog } from '../log.ts';
import { describePortFailure } from './local-server.ts';
import { stopOnSignals } from './stop-on-signals.ts';
import { installWithProgress } from '../on-device/install-with-progress.ts';
import type { OnDeviceLanguageModels } from '../on-device/create-language-models.ts';
import { defaultModelId } from '../on-device/model-catalogue.ts';

/** The built window, beside the built host, or below `out/` when this file runs from the source tree. */
const windowDirectory = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../out/window' : '../window', import.meta.url),
);

function log(message: string, failure?: unknown): void {
  process.stderr.write(`${redactLog(message)}${failure === undefined ? '' : ` ${describeFailure(failure)}`}\n`);
}

async function listenForOptions(host: Host, options: ServeOptions, downloads: DownloadTickets): Promise<Listener> {
  const token = randomBytes(32).toString('base64url');
  const start = (port: number): Promise<Listener> =>
    listen({
      api: host.api,
      port,
      isTls: options.isTls,
      dataDirectory: options.dataDirectory,
      window: {
        directory: windowDirectory,
        token,
        downloads,
        onNewAddress: (windowAddress) => announceNewAddress(windowAddress, options),
      },
      log,
    });
  try {
    return await start(options.port ?? defaultPort);
  } catch (failure) {
    const isTaken = (failure as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (isTaken && options.port === null) return start(0);
    throw failure;
  }
}

function announce(listener: Listener, options: ServeOptions): void {
  const { address, windowAddress } = listener;
  if (options.isJson) {
    process.stdout.write(`${JSON.stringify({ address, windowUrl: windowAddress })}\n`);
    return;
  }
  process.stdout.write(
    [
      `API:                        ${address}`,
      `Open in a browser:          ${windowAddress}`,
      'Create a key for a program: npm run keys -- issue --name my-program',
      'Press Ctrl+C to stop.',
      '',
    ].join('\n'),
  );
}

/** Programs read the newest address from the last line. */
function announceNewAddress(windowUrl: string, { isJson }: ServeOptions): void {
  const { origin } = new URL(windowUrl);
  const text = isJson ? JSON.stringify({ address: origin, windowUrl }) : `Open in a browser:          ${windowUrl}`;
  process.stdout.write(`${text}\n`);
}

/**
 * Downloads the on-device model unless one is installed, with progress on stderr. The service runs meanwhile, so this never rejects.
 * A printed failure says what to do next.
 */
async function downloadModel(models: OnDeviceLanguageModels, signal: AbortSignal): Promise<void> {
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

async function run(options: ServeOptions): Promise<void> {
  await useNetwork({ environment: process.env }, log);
  const downloads = createDownloadTickets();
  const host = await createHost({
    dataDirectory: options.dataDirectory,
    providerBases: options.providerBases,
    endpoints: options.endpoints,
    team: options.team,
    teamOfflineMinutes: options.teamOfflineMinutes,
    capabilities: [],
    environment: process.env,
    log,
    handlers: downloadHandlers(downloads),
  });
  let listener: Listener;
  try {
    listener = await listenForOptions(host, options, downloads);
  } catch (failure) {
    await host.close();
    throw new AppError('conflict', describePortFailure(failure, options.port ?? defaultPort), { cause: failure });
  }
  host.setServer({ serverAddress: listener.address, serverFailure: null, protocols: [...protocols] });
  const signal = stopOnSignals({ listener, host, log });
  // From here on, an error in one request must not end the others.
  process.on('uncaughtException', (failure) => log('Unexpected error. The service continues.', failure));
  announce(listener, options);
  tuneEngine();
  if (options.fetchesModel) void downloadModel(host.onDevice, signal);
}

try {
  // The service continues if the reader of its output exits.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  const options = readServeOptions(process.argv.slice(2));
  if (options === null) process.stdout.write(`${serveHelp}\n`);
  else await run(options);
} catch (failure) {
  if (failure instanceof UsageError || failure instanceof AppError) log(failure.message);
  else log("Touchstone couldn't start.", failure);
  process.exitCode = failure instanceof UsageError ? 2 : 1;
}
