import type { AiSystem } from '../../../shared/contract/common.ts';
import type { PromptVariable } from '../../../shared/contract/prompts.ts';
import { toolFunctionOf } from '../../../shared/contract/tools.ts';
import { isObject } from '../../../shared/json-schema.ts';
import { modelNameOf } from '../../../shared/prompt-content.ts';
import { providerName } from '../../../shared/provider-names.ts';

/** A setting of one side. */
interface Setting {
  text: string;
  /** Whether it is compared line by line, as tools and schemas are. */
  isLong: boolean;
}

export interface SettingDifference {
  name: string;
  /** Null if that side lacks it. */
  before: string | null;
  after: string | null;
  isLong: boolean;
}

/** A configuration value as text. */
export function settingText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The compared settings of a version or a run. */
export interface ComparedSettings {
  aiSystem: AiSystem | null;
  model: string | null;
  configuration: Record<string, unknown> | null;
  variables?: readonly PromptVariable[];
}

/** Characters of JSON that fit a line of the table. */
const maxShortCharacters = 80;

function settingOf(value: unknown): Setting {
  const text = settingText(value);
  const isLong = typeof value === 'object' && text.length > maxShortCharacters;
  return { text: isLong ? JSON.stringify(value, null, 2) : text, isLong };
}

/** Each tool by its name, so that a changed one is compared with itself wherever it is in the list. */
function toolSettings(tools: readonly unknown[]): [string, Setting][] {
  const names = new Set<string>();
  return tools.map((tool) => {
    const own = isObject(tool) && typeof tool['type'] === 'string' ? tool['type'] : 'tool';
    let name = `Tool ${toolFunctionOf(tool)?.name ?? own}`;
    for (let count = 2; names.has(name); count += 1) name = `${name.replace(/, \d+$/, '')}, ${count}`;
    names.add(name);
    return [name, { text: JSON.stringify(tool, null, 2), isLong: true }];
  });
}

function settingsOf({ aiSystem, model, configuration, variables = [] }: ComparedSettings): Map<string, Setting> {
  const chosen = modelNameOf({ aiSystem, model });
  const short = (text: string): Setting => ({ text, isLong: false });
  const settings = new Map([
    ['Provider', short(providerName(chosen.aiSystem))],
    ['Model', short(chosen.model)],
  ]);
  for (const [name, value] of Object.entries(configuration ?? {})) {
    if (value === null || value === undefined) continue;
    if (name === 'tools' && Array.isArray(value))
      for (const [title, setting] of toolSettings(value)) settings.set(title, setting);
    else settings.set(name, settingOf(value));
  }
  for (const { name, description, defaultValue, sampleValue } of variables) {
    if (description !== null) settings.set(`{{${name}}} description`, short(description));
    if (defaultValue !== null) settings.set(`{{${name}}} default`, short(defaultValue));
    if (sampleValue !== null) settings.set(`{{${name}}} sample`, short(sampleValue));
  }
  return settings;
}

/** The differences in model, parameters, tools and variables, and the number of equal settings. */
export function diffSettings(
  before: ComparedSettings,
  after: ComparedSettings,
): { differences: SettingDifference[]; same: number } {
  const [old, fresh] = [settingsOf(before), settingsOf(after)];
  const names = [...new Set([...old.keys(), ...fresh.keys()])];
  const differences = names.flatMap((name): SettingDifference[] => {
    const [one, other] = [old.get(name), fresh.get(name)];
    if (one?.text === other?.text) return [];
    const isLong = (one?.isLong ?? false) || (other?.isLong ?? false);
    return [{ name, before: one?.text ?? null, after: other?.text ?? null, isLong }];
  });
  return { differences, same: names.length - differences.length };
}
