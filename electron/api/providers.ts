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
import type { Providers } from '../providers/create-providers.ts';
import { implement, type Handler } from './handler.ts';

export function providerHandlers(providers: Providers): Handler[] {
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
