import { toolFunctionOf } from '../../../shared/contract/tools.ts';
import { isMap, mapIn, plain, type ReadMap, textIn } from '../../prompts/transfer/bounded-values.ts';
import { readValueFile } from '../../prompts/transfer/formats/promptfoo-files.ts';
import type { ReferencedFiles } from '../../prompts/transfer/referenced-files.ts';

/** Settings whose value promptfoo reads from a file that they name. */
const inFiles = new Set(['tools', 'tool_choice', 'response_format', 'responseSchema']);

/** Settings that change no answer. */
const withoutEffect = new Set(['store', 'user', 'metadata', 'apiKeyEnvar']);
/** Where a compatible endpoint is, which a person sets up. */
const address = /^api(?:Host|Base|BaseUrl|Endpoint|Version)$/;

/** A value whose texts, at any depth, may name files. Throws `TransferError`. */
function withFiles(value: unknown, files: ReferencedFiles): unknown {
  if (typeof value === 'string') return value.startsWith('file://') ? readValueFile(value, files) : value;
  if (Array.isArray(value)) return value.map((item) => withFiles(item, files));
  return isMap(value) ? new Map([...value].map(([key, item]) => [key, withFiles(item, files)])) : value;
}

const functionOf = (name: string, description: string | null, parameters: unknown) =>
  new Map<string, unknown>([
    ['type', 'function'],
    [
      'function',
      new Map<string, unknown>([
        ['name', name],
        ...(description === null ? [] : [['description', description] as const]),
        ['parameters', parameters ?? new Map([['type', 'object']])],
      ]),
    ],
  ]);

/** Google writes the types of a schema in upper case. */
function lowerCaseTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowerCaseTypes);
  if (!isMap(schema)) return schema;
  return new Map(
    [...schema].map(([key, item]) => [
      key,
      key === 'type' && typeof item === 'string' ? item.toLowerCase() : lowerCaseTypes(item),
    ]),
  );
}

/** Functions in the forms of Anthropic, Google and Bedrock, in that of OpenAI. Anything else stays as it is. */
function functionsIn(tool: unknown): unknown[] {
  if (!isMap(tool) || toolFunctionOf(plain(tool)) !== null) return [tool];
  const declared = tool.get('functionDeclarations') ?? tool.get('function_declarations');
  if (Array.isArray(declared) && tool.size === 1)
    return declared.map((one) =>
      isMap(one)
        ? functionOf(textIn(one, 'name') ?? '', textIn(one, 'description'), lowerCaseTypes(one.get('parameters')))
        : one,
    );
  const specification = mapIn(tool, 'toolSpec');
  if (specification)
    return [
      functionOf(
        textIn(specification, 'name') ?? '',
        textIn(specification, 'description'),
        mapIn(specification, 'inputSchema')?.get('json'),
      ),
    ];
  // Anthropic's own tools, such as its web search, have a type.
  if (!tool.has('input_schema') || (tool.has('type') && tool.get('type') !== 'custom')) return [tool];
  return [functionOf(textIn(tool, 'name') ?? '', textIn(tool, 'description'), tool.get('input_schema'))];
}

/** The Responses API has a schema beside its name, and promptfoo accepts a schema without either. */
function responseFormat(value: unknown): unknown {
  if (!isMap(value)) return value;
  const type = textIn(value, 'type');
  if (type === 'object')
    return new Map<string, unknown>([
      ['type', 'json_schema'],
      [
        'json_schema',
        new Map<string, unknown>([
          ['name', 'response'],
          ['schema', value],
        ]),
      ],
    ]);
  if (type !== 'json_schema') return value;
  const own = mapIn(value, 'json_schema') ?? new Map([...value].filter(([key]) => key !== 'type'));
  return new Map<string, unknown>([
    ['type', type],
    ['json_schema', new Map<string, unknown>([['name', 'response'], ...own])],
  ]);
}

/** What promptfoo's settings of a provider say, in the forms of OpenAI's chat API. Throws `TransferError` for a file that can't be read. */
export function openAiParameters(
  config: ReadMap,
  { files, hasAddress }: { readonly files: ReferencedFiles; readonly hasAddress: boolean },
): { readonly settings: ReadMap; readonly systemMessage: string | null } {
  const settings = new Map<string, unknown>();
  let systemMessage: string | null = null;
  for (const [key, given] of config) {
    if (withoutEffect.has(key) || (hasAddress && address.test(key))) continue;
    const value = inFiles.has(key) ? withFiles(given, files) : given;
    if (key === 'instructions' && typeof value === 'string') systemMessage = value;
    else if (key === 'tools' && Array.isArray(value)) settings.set(key, value.flatMap(functionsIn));
    else settings.set(key, key === 'response_format' ? responseFormat(value) : value);
  }
  return { settings, systemMessage };
}
