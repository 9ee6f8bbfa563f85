import { writePromptfooProvider } from '../model-names.ts';
import { literalNunjucks, toNunjucks } from '../templates/nunjucks.ts';
import { present, valuesOf, type ExportNote, type WritablePrompt, type Written } from './exported-prompt.ts';
import { yamlText } from './yaml-text.ts';

function rawOf({ version }: WritablePrompt): string {
  const user = toNunjucks(version.promptText);
  if (version.systemMessage === null || version.systemMessage === '') return user;
  const system = literalNunjucks(version.systemMessage);
  return JSON.stringify(
    [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    null,
    2,
  );
}

/** A `promptfooconfig.yaml` with one prompt. Throws `Refusal` for a template that Nunjucks would render differently. */
export function writePromptfoo(exported: WritablePrompt): Written {
  const { prompt, version } = exported;
  const notes: ExportNote[] = [];
  const { aiSystem, model } = version;
  const provider = aiSystem === null || model === null ? null : writePromptfooProvider(aiSystem, model);
  if (model !== null && provider === null) {
    notes.push({ field: 'model', message: `promptfoo has no provider for ${model}; add one to the file` });
  }
  if (provider === null && version.configuration !== null) {
    notes.push({ field: 'configuration', message: 'Parameters are skipped because the file has no provider' });
  }
  const [samples, defaults] = [valuesOf(version, 'sampleValue'), valuesOf(version, 'defaultValue')];
  const extension = present([
    ['folder', prompt.folder],
    ['tags', prompt.tags],
    ['description', prompt.description],
    ['note', version.note],
    ['variables', new Map(version.variables.map(({ name, description }) => [name, description]))],
  ]);
  const fields = present([
    ['description', prompt.name],
    ['prompts', [{ label: prompt.name, raw: rawOf(exported) }]],
    [
      'providers',
      provider === null
        ? null
        : [
            present([
              ['id', provider],
              ['config', version.configuration],
            ]),
          ],
    ],
    ['defaultTest', defaults.size === 0 ? null : { vars: defaults }],
    ['tests', samples.size === 0 ? null : [{ vars: samples }]],
    ['metadata', extension.size === 0 ? null : { touchstone: extension }],
  ]);
  return { content: yamlText(fields), notes };
}
