/**
 * npm run tool -- conformance [--record]: writes docs/conformance.md, what each provider can do. With --record, the on-device model answers
 * the checks first; the default model is downloaded if it is missing.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { capabilityChecks } from '../electron/capabilities/checks.ts';
import { planCheck } from '../electron/capabilities/run-check.ts';
import { createOnDeviceLanguageModels } from '../electron/on-device/create-language-models.ts';
import { defaultModelId, modelCatalogue } from '../electron/on-device/model-catalogue.ts';
import { combineMetadata, filterConfiguration } from '../electron/providers/model-metadata.ts';
import type { ModelPart } from '../electron/providers/provider.ts';
import { onDeviceFile, runConformance, tableFile, writeConformance } from '../tests/support/conformance-table.ts';
import { ensureTestModel } from '../tests/support/on-device-model.ts';
import { createMemorySettings } from '../tests/support/on-device-settings.ts';

async function record(): Promise<void> {
  const { signal } = new AbortController();
  const models = createOnDeviceLanguageModels({
    directory: await ensureTestModel(),
    settings: createMemorySettings({ onDeviceModel: modelCatalogue.find(({ id }) => id === defaultModelId)!.fileName }),
    registryAddress: 'http://127.0.0.1:1',
    log: console.error,
  });
  try {
    await models.whenInstalled(defaultModelId, { signal });
    const { provider } = models;
    const metadata = combineMetadata('on-device', 'the on-device model', null, null);
    const target = { provider, model: 'hl-gpt-4o-mini', servedBy: '', catalogueEntry: null, metadata };
    const recorded: Record<string, ModelPart[]> = {};
    for (const check of capabilityChecks) {
      const planned = planCheck(check, target, {
        applicableConfiguration: (_, configuration) => filterConfiguration(metadata, configuration),
        cost: () => null,
      });
      if (!('request' in planned)) continue;
      const { request } = planned;
      const repeatable = { ...request, configuration: { ...request.configuration, seed: 1, temperature: 0 } };
      console.log(`${check.id} …`);
      recorded[check.id] = await Array.fromAsync(provider.stream(repeatable, { signal }));
    }
    writeFileSync(onDeviceFile, `${JSON.stringify(recorded)}\n`);
  } finally {
    await models.close();
  }
}

const { values } = parseArgs({ options: { record: { type: 'boolean' } } });
if (values.record) await record();
writeFileSync(tableFile, await writeConformance(await runConformance()));
