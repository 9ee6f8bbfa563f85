/**
 * npm run benchmark -- structured-output [ANSWERS] [FIRST]: answers of the on-device model that follow JSON schemas, each checked by ajv. Every
 * one must be valid.
 */
import { createOnDeviceLanguageModels } from '../electron/on-device/create-language-models.ts';
import { defaultModelId, modelCatalogue } from '../electron/on-device/model-catalogue.ts';
import { createAnswerCheck } from '../electron/schemas/check-schema.ts';
import { ensureTestModel } from '../tests/support/on-device-model.ts';
import { createMemorySettings } from '../tests/support/on-device-settings.ts';
import { structuredPrompts } from '../tests/support/structured-prompts.ts';
import { median, printReport, row } from './support/report.ts';

const answers = Number(process.argv[2] ?? 50);
/** Seed of the first answer. */
const first = Number(process.argv[3] ?? 0);
const { signal } = new AbortController();
const models = createOnDeviceLanguageModels({
  directory: await ensureTestModel(),
  settings: createMemorySettings({ onDeviceModel: modelCatalogue.find(({ id }) => id === defaultModelId)!.fileName }),
  registryAddress: 'http://127.0.0.1:1',
  log: console.error,
});
await models.whenInstalled(defaultModelId, { signal });

let valid = 0;
let complete = 0;
const seconds: number[] = [];
for (let index = first; index < first + answers; index += 1) {
  const { prompt, schema } = structuredPrompts[index % structuredPrompts.length]!;
  const startedAt = performance.now();
  const { content, finishReason } = await models.provider.generate(
    {
      model: 'hl-gpt-4o-mini',
      systemMessage: null,
      messages: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
      configuration: { seed: index, response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } },
    },
    { signal },
  );
  seconds.push((performance.now() - startedAt) / 1000);
  const check = createAnswerCheck(schema)(content);
  if (finishReason === 'Stop') complete += 1;
  if (check.outcome === 'valid') valid += 1;
  else console.error(`${prompt}\n${finishReason} ${check.outcome}: ${content}`);
}
await models.close();
printReport('structured-output', [
  row('answers that follow their schema', valid, '', { min: answers }),
  row('answers that end before their tokens', complete, '', { min: answers }),
  row('answers', answers, ''),
  row('seconds for an answer, median', median(seconds), 's'),
  row('seconds for an answer, slowest', Math.max(...seconds), 's'),
]);
