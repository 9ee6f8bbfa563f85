import type { CompletionRequest } from '../../shared/contract/completions.ts';
import type { Variant } from '../../shared/contract/comparisons.ts';
import type { DatasetColumn, DatasetRow } from '../../shared/contract/datasets.ts';
import type { PromptVersion } from '../../shared/contract/prompts.ts';
import { type ParsedTemplate, parseTemplate } from '../../shared/prompt-template.ts';
import type { StoredPromptIds } from '../prompts/stored-prompt.ts';

type Values = Record<string, unknown>;

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets `customer.name` inside the object `customer`. A copy is made of what the row has. */
function setPath(values: Values, path: string, value: unknown): void {
  const steps = path.split('.');
  const last = steps.pop()!;
  let inner = values;
  for (const step of steps) {
    const next = Object.hasOwn(inner, step) && isObject(inner[step]) ? { ...inner[step] } : {};
    Object.defineProperty(inner, step, { value: next, enumerable: true, configurable: true, writable: true });
    inner = next;
  }
  Object.defineProperty(inner, last, { value, enumerable: true, configurable: true, writable: true });
}

function valueAt(values: Values, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (inner, step) => (isObject(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined),
      values,
    );
}

/** The variables that have no value. One that only conditions use needs none. */
export function missingVariables({ variables }: ParsedTemplate, values: Values): string[] {
  return variables
    .filter(({ kind, name }) => kind !== 'condition' && (valueAt(values, name) ?? null) === null)
    .map(({ name }) => name);
}

/** Makes the requests of one variant. */
export class VariantRequests {
  readonly variant: Variant;
  readonly storedPrompt: StoredPromptIds | null;
  readonly isHistoryVariable: boolean;
  readonly template: ParsedTemplate;
  readonly #version: PromptVersion | null;
  readonly #mapped: readonly (readonly [path: string, column: string])[];

  /** `variables` are the columns by variable. */
  constructor(
    variant: Variant,
    version: PromptVersion | null,
    columns: readonly DatasetColumn[],
    variables: Readonly<Record<string, string>> | null,
  ) {
    this.variant = variant;
    this.#version = version;
    this.storedPrompt = version && { promptId: version.promptId, promptVersionId: version.id };
    this.isHistoryVariable = version?.variables.some(({ name }) => name === 'history') ?? false;
    this.template = parseTemplate(this.#promptText);
    const own = columns.filter(({ type }) => type !== 'expected').map(({ name }) => [name, name] as const);
    this.#mapped = [...own, ...Object.entries(variables ?? {})];
  }

  get #promptText(): string {
    return this.#version?.promptText ?? this.variant.prompt?.promptText ?? '';
  }

  /** The values of the variables, and those without one. */
  fill(row: Pick<DatasetRow, 'values'>): { replacements: Values; missing: string[] } {
    const replacements: Values = {};
    for (const { name, defaultValue } of this.#version?.variables ?? []) {
      if (defaultValue !== null) setPath(replacements, name, defaultValue);
    }
    for (const [path, column] of this.#mapped) {
      const value = Object.hasOwn(row.values, column) ? row.values[column] : undefined;
      if (value !== undefined && value !== null) setPath(replacements, path, value);
    }
    return { replacements, missing: missingVariables(this.template, replacements) };
  }

  request(replacements: Values, metadata: Values): CompletionRequest {
    const { aiSystem, model, configuration, dataspaceIds, prompt } = this.variant;
    return {
      promptText: this.#promptText,
      systemMessage: this.#version ? this.#version.systemMessage : (prompt?.systemMessage ?? null),
      aiSystem,
      model,
      configuration,
      replacements,
      ...(dataspaceIds && dataspaceIds.length > 0 && { dataspaceIds }),
      metadata,
    };
  }
}
