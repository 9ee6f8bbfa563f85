import {
  addEndpoint,
  addModel,
  confirmEndpointAddress,
  confirmProviderAddress,
  listEndpoints,
  listModels,
  listProviders,
  removeEndpoint,
  removeModel,
  removeProviderKey,
  setProviderKey,
  testEndpoint,
  testProvider,
  updateEndpoint,
  updateProvider,
} from '../../shared/contract/providers.ts';
import {
  estimateCapabilityTest,
  listCapabilityTests,
  readCapabilityTest,
  startCapabilityTest,
  stopCapabilityTest,
} from '../../shared/contract/capability-tests.ts';
import type { CapabilityTests } from '../capabilities/create-capability-tests.ts';
import type { Providers } from '../providers/create-providers.ts';
import { type Handler, implement } from './api.ts';
import {
  addOnDeviceModel,
  followOnDevice,
  installOnDeviceModel,
  type OnDeviceState,
  pauseOnDeviceModel,
  readOnDevice,
  removeOnDeviceModel,
  selectOnDeviceModel,
} from '../../shared/contract/on-device.ts';
import type { Log } from '../log.ts';
import type { OnDeviceLanguageModels } from '../on-device/create-language-models.ts';
import { eventQueue, followResponse } from './stream-response.ts';
import type { AiSystem } from '../../shared/contract/common.ts';

function keyHandlers(providers: Providers): Handler[] {
  return [
    implement(listProviders, () => ({ data: providers.providerStates(), keychain: providers.keychainTitle() })),
    implement(setProviderKey, ({ parameters, body }) => providers.setKey(parameters.aiSystem, body.key)),
    implement(removeProviderKey, ({ parameters }) => providers.removeKey(parameters.aiSystem)),
    implement(updateProvider, ({ parameters, body }) =>
      providers.setBaseAddress(parameters.aiSystem, body.baseAddress),
    ),
    implement(confirmProviderAddress, ({ parameters, body }) =>
      providers.confirmAddress(parameters.aiSystem, body.origin),
    ),
    implement(testProvider, ({ parameters, signal }) => providers.test(parameters.aiSystem, { signal })),
    implement(listEndpoints, async ({ signal }) => ({
      data: providers.endpoints(),
      found: await providers.findLocalEndpoints({ signal }),
    })),
    implement(addEndpoint, ({ body }) => providers.addEndpoint(body)),
    implement(updateEndpoint, ({ parameters, body }) => providers.updateEndpoint(parameters.name, body)),
    implement(removeEndpoint, ({ parameters }) => providers.removeEndpoint(parameters.name)),
    implement(confirmEndpointAddress, ({ parameters, body }) =>
      providers.confirmEndpoint(parameters.name, body.origin),
    ),
    implement(testEndpoint, ({ parameters, signal }) => providers.testEndpoint(parameters.name, { signal })),
    implement(listModels, () => ({ data: providers.models() })),
    implement(addModel, ({ body }) => providers.addModel(body.aiSystem, body.model)),
    implement(removeModel, ({ body }) => providers.removeModel(body.aiSystem, body.model)),
  ];
}

function capabilityHandlers(tests: CapabilityTests): Handler[] {
  return [
    implement(estimateCapabilityTest, ({ body }) => tests.estimate(body)),
    implement(startCapabilityTest, ({ body }) => tests.start(body)),
    implement(listCapabilityTests, () => ({ data: tests.list() })),
    implement(readCapabilityTest, ({ parameters }) => tests.find(parameters.id)),
    implement(stopCapabilityTest, ({ parameters }) => tests.stop(parameters.id)),
  ];
}

async function* onDeviceStates(
  models: OnDeviceLanguageModels,
  signal: AbortSignal,
): AsyncGenerator<OnDeviceState, void, void> {
  const queue = eventQueue<OnDeviceState>({ signal, merge: (_, next) => next });
  queue.push(models.state());
  const unsubscribe = models.subscribe(queue.push);
  try {
    yield* queue;
  } finally {
    unsubscribe();
  }
}

function onDeviceHandlers(models: OnDeviceLanguageModels, reportFailure: Log): Handler[] {
  const stateAfter = async (change: Promise<void>): Promise<OnDeviceState> => {
    await change;
    return models.state();
  };
  return [
    implement(readOnDevice, () => models.state()),
    implement(followOnDevice, (input) =>
      followResponse(input, (signal) => onDeviceStates(models, signal), reportFailure),
    ),
    implement(addOnDeviceModel, ({ body }) => stateAfter(models.add(body.address))),
    implement(installOnDeviceModel, ({ parameters }) => stateAfter(models.install(parameters.id))),
    implement(pauseOnDeviceModel, ({ parameters }) => stateAfter(models.pause(parameters.id))),
    implement(selectOnDeviceModel, ({ parameters }) => stateAfter(models.select(parameters.id))),
    implement(removeOnDeviceModel, ({ parameters }) => stateAfter(models.remove(parameters.id))),
  ];
}

export type LearnedModels = Pick<Providers, 'learnModel'>;

/**
 * Fetches the provider's list if no list has the model of a new prompt or agent. The window fetches the lists itself, programs don't.
 * Never rejects.
 */
export async function learnModelOf(
  { aiSystem, model }: { aiSystem?: AiSystem | null | undefined; model?: string | null | undefined },
  models: LearnedModels,
): Promise<void> {
  if (model) await models.learnModel(aiSystem ?? null, model);
}

/** Providers, their models, their capabilities, and the on-device models. */
export function providerHandlers(
  providers: Providers,
  onDevice: OnDeviceLanguageModels,
  capabilityTests: CapabilityTests,
  log: Log,
): Handler[] {
  return [...keyHandlers(providers), ...capabilityHandlers(capabilityTests), ...onDeviceHandlers(onDevice, log)];
}
