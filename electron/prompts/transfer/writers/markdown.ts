import type { ExportedPrompt, Written } from './exported-prompt.ts';

/** A fence longer than every one inside. */
function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** One line, with the signs of Markdown as text. */
function inline(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|]/g, '\\$&');
}

function table({ version }: ExportedPrompt): string[] {
  if (version.variables.length === 0) return [];
  const rows = version.variables.map(({ name, description, defaultValue, sampleValue }) => {
    return `| ${[name, description, defaultValue, sampleValue].map((cell) => inline(cell ?? '')).join(' | ')} |`;
  });
  return [
    '## Variables',
    ['| Name | Description | Default | Sample |', '| --- | --- | --- | --- |', ...rows].join('\n'),
  ];
}

/** A page for people to read; it is not imported again as it was. */
export function writeMarkdown(exported: ExportedPrompt): Written {
  const { prompt, version } = exported;
  const facts = [
    prompt.folder === null ? null : `Folder: ${inline(prompt.folder)}`,
    prompt.tags.length === 0 ? null : `Tags: ${inline(prompt.tags.join(', '))}`,
    version.model === null ? null : `Model: ${inline(`${version.aiSystem} ${version.model}`)}`,
    `Version ${version.number} of ${version.createdAt}`,
    version.note === null ? null : `Note: ${inline(version.note)}`,
  ].filter((fact) => fact !== null);
  const sections = [
    `# ${inline(prompt.name)}`,
    ...(prompt.description === null ? [] : [prompt.description]),
    facts.map((fact) => `- ${fact}`).join('\n'),
    ...(version.systemMessage === null ? [] : ['## System message', fenced(version.systemMessage)]),
    '## Prompt',
    fenced(version.promptText, 'handlebars'),
    ...table(exported),
    ...(version.configuration === null
      ? []
      : ['## Settings', fenced(JSON.stringify(version.configuration, null, 2), 'json')]),
  ];
  return { content: `${sections.join('\n\n')}\n`, notes: [] };
}
