/** A process that fetches a model until it is killed: `<models folder> <registry address> <catalogue model as JSON>`. */
import { createOnDeviceLanguageModels } from '../../electron/on-device/create-language-models.ts';
import type { CatalogueModel } from '../../electron/on-device/model-catalogue.ts';
import { createMemorySettings } from './on-device-settings.ts';
import { whenModel } from './on-device-state.ts';

const [directory, registryAddress, modelText] = process.argv.slice(2);
const model = JSON.parse(modelText!) as CatalogueModel;
const models = createOnDeviceLanguageModels({
  directory: directory!,
  settings: createMemorySettings(),
  registryAddress: registryAddress!,
  catalogue: [model],
  log: console.error,
});
await models.install(model.id);
await whenModel(models, model.id, ({ receivedBytes }) => receivedBytes >= 590_000);
process.send?.('received');
