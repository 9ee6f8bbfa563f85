import { writePromptfooProvider } from '../model-names.ts';
import { literalNunjucks, toNunjucks } from '../templates/nunjucks.ts';
import { present, valuesOf, type ExportNote, type WritablePrompt, type Written } from './exported-prompt.ts';
import { yamlText } from './yaml-text.ts';

/** What promptfoo runs or fetches, on however many lines. */
const commands = /^\s*(?:exec|file|package|python|ruby|golang|javascript|https?|langfuse|portkey|helicone):/i;
const fileEnding = /\.(?:[cm]?[jt]sx?|py|rb|go|sh|bash|bat|cmd|ps1|exe|txt|md|json|jsonl|ya?ml|csv|xlsx?|j2)(?::|$)/i;

/** Whether promptfoo would take a text for a command, or for the path of a file. */
function isActive(text: string): boolean {
  if (commands.test(text)) return true;
  const line = text.trim();
  return !line.includes('\n') && (fileEnding.test(line) || (line.includes('*') && /[/\\]/.test(line)));
}

/** The template; as a chat in JSON where there is a system message, and where the bare text would be more than a text. */
function rawOf({ version }: WritablePrompt): string {
  const user = toNunjucks(version.promptText);
  const system = literalNunjucks(version.systemMessage ?? '');
  if (system === '' && !isActive(user)) return user;
  const messages = [...(system === '' ? [] : [{ role: 'system', content: system }]), { role: 'user', content: user }];
  return JSON.stringify(messages, null, 2);
}

const loads = (text: string) =>
  /^\s*(?:file:\/\/|package:)/i.test(text) || (text.includes('{{') && /\benv\b/.test(text));

/** Values without those for which promptfoo would load something; they are noted. */
function safeValues(values: ReadonlyMap<string, string>, kind: string, notes: ExportNote[]): Map<string, string> {
  const safe = new Map(values);
  for (const [name, text] of values) {
    if (!loads(text)) continue;
    safe.delete(name);
    const message = `The ${kind} is skipped because promptfoo would load a file or an environment variable`;
    notes.push({ field: `variables.${name}`, message });
  }
  return safe;
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
  const defaults = safeValues(valuesOf(version, 'defaultValue'), 'default', notes);
  const samples = safeValues(valuesOf(version, 'sampleValue'), 'sample', notes);
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
