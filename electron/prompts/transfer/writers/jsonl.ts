import type { ExportedPrompt, Written } from './exported-prompt.ts';

/** One line: a body of chat completions, with what it has no field for under `touchstone`. */
export function writeJsonLine({ prompt, version }: ExportedPrompt): Written {
  const { promptText, systemMessage, aiSystem, model, configuration, variables, note } = version;
  const system = systemMessage === null ? [] : [{ role: 'system', content: systemMessage }];
  const line = {
    messages: [...system, { role: 'user', content: promptText }],
    ...(model === null ? {} : { model }),
    ...configuration,
    touchstone: {
      name: prompt.name,
      folder: prompt.folder,
      tags: prompt.tags,
      description: prompt.description,
      aiSystem,
      configuration,
      variables,
      note,
    },
  };
  return { content: `${JSON.stringify(line)}\n`, notes: [] };
}
