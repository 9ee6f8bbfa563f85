/** npm run benchmark -- example [RUNS]: the example of the first start on the shipped model; every answer must be good. */
import { textMessage } from '../shared/contract/messages.ts';
import { createOnDeviceLanguageModels } from '../electron/on-device/create-language-models.ts';
import { defaultModelId, modelCatalogue } from '../electron/on-device/model-catalogue.ts';
import { exampleDraft } from '../renderer/stores/playground-drafts.ts';
import { parseTemplate, renderTemplate } from '../shared/prompt-template.ts';
import { ensureTestModel } from '../tests/support/on-device-model.ts';
import { createMemorySettings } from '../tests/support/on-device-settings.ts';

const runs = Number(process.argv[2] ?? 10);
const { promptText, values, parameters } = exampleDraft;
const { signal } = new AbortController();
const models = createOnDeviceLanguageModels({
  directory: await ensureTestModel(),
  settings: createMemorySettings({ onDeviceModel: modelCatalogue.find(({ id }) => id === defaultModelId)!.fileName }),
  registryAddress: 'http://127.0.0.1:1',
  log: console.error,
});
await models.whenInstalled(defaultModelId, { signal });

/** One sentence that gives the days and nothing else of the passage. */
function isGood(answer: string): boolean {
  return (
    /^[^.]*\bTuesday to Saturday\b[^.]*\.?$/.test(answer.trim()) && !/bicycle|clock|passage|question/i.test(answer)
  );
}

const request = {
  model: 'hl-gpt-4.1-mini',
  systemMessage: null,
  messages: [textMessage('user', renderTemplate(parseTemplate(promptText), values).text)],
  configuration: {
    max_tokens: Number(parameters.max_tokens),
    temperature: Number(parameters.temperature),
    top_p: Number(parameters.top_p),
    stop: ['\n'],
  },
};
let good = 0;
for (let run = 1; run <= runs; run += 1) {
  const { content } = await models.provider.generate(request, { signal });
  good += Number(isGood(content));
  console.log(`${run}. ${isGood(content) ? 'good' : 'BAD '} ${content.trim()}`);
}
await models.close();
console.log(`${good} of ${runs} answers are good`);
process.exitCode = good === runs ? 0 : 1;
