import { parseTemplate } from '../../../../shared/prompt-template.ts';
import { bodyOf } from '../dotprompt-body.ts';
import { writeDotpromptModel } from '../model-names.ts';
import { TransferError } from '../source-text.ts';
import { present, valuesOf, type WritablePrompt, type Written } from './exported-prompt.ts';
import { yamlText } from './yaml-text.ts';

type Version = WritablePrompt['version'];

/** Names of helpers in the `dotprompt` package. A variable with such a name would never get a value. */
const helpers = new Set(['role', 'history', 'media', 'section', 'json', 'ifEquals', 'unlessEquals']);

/** Our parameters under their names in `.prompt` files. */
export const dotpromptParameters: Readonly<Record<string, string>> = {
  top_p: 'topP',
  top_k: 'topK',
  max_tokens: 'maxOutputTokens',
  stop: 'stopSequences',
};

function inputOf(version: Version): Map<string, unknown> {
  const properties = version.variables.map(({ name, description }) => {
    return [
      name,
      present([
        ['type', 'string'],
        ['description', description],
      ]),
    ] as const;
  });
  const schema = new Map<string, unknown>([
    ['type', 'object'],
    ['properties', new Map(properties)],
  ]);
  return present([
    ['schema', properties.length === 0 ? null : schema],
    ['default', valuesOf(version, 'defaultValue')],
  ]);
}

function requireWritable({ promptText, systemMessage, variables }: Version): void {
  if (`${promptText}${systemMessage ?? ''}`.includes('\0'))
    throw new TransferError('The text contains the character U+0000');
  const template = parseTemplate(promptText);
  const isHistoryVariable = template.historyTags.length > 0 && variables.some(({ name }) => name === 'history');
  const helper = template.variables.find((variable) => helpers.has(variable.name))?.name;
  const name = helper ?? (isHistoryVariable ? 'history' : undefined);
  if (name !== undefined) throw new TransferError(`{{${name}}} is a helper in .prompt files; rename the variable`);
}

/** A `.prompt` file. Other fields are in the extension `touchstone`. */
export function writeDotprompt({ prompt, version }: WritablePrompt): Written {
  requireWritable(version);
  const { response_format: format, ...settings } = version.configuration ?? {};
  const isJson = format !== null && typeof format === 'object' && (format as { type?: unknown }).type !== 'text';
  const config = Object.entries(settings).map(([key, value]) => [dotpromptParameters[key] ?? key, value] as const);
  const { aiSystem, model } = version;
  const fields = present([
    ['name', prompt.name],
    ['description', prompt.description],
    ['model', aiSystem === null || model === null ? null : writeDotpromptModel(aiSystem, model)],
    ['config', new Map(config)],
    ['input', inputOf(version)],
    ['output', isJson ? { format: 'json' } : null],
    ['touchstone.folder', prompt.folder],
    ['touchstone.tags', prompt.tags],
    ['touchstone.note', version.note],
    ['touchstone.samples', valuesOf(version, 'sampleValue')],
    ['touchstone.responseFormat', format],
  ]);
  const front = yamlText(fields);
  return { content: `---\n${front}---\n${bodyOf(version)}\n`, notes: [] };
}
