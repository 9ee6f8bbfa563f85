/** Where a schema is sent: the providers with their own rules, and the grammar of the on-device model. */
export const schemaTargets = ['OpenAi', 'Anthropic', 'GoogleGemini', 'Cohere', 'Groq', 'OnDevice'] as const;
export type SchemaTarget = (typeof schemaTargets)[number];

export const schemaTargetNames: Readonly<Record<SchemaTarget, string>> = {
  OpenAi: 'OpenAI (strict)',
  Anthropic: 'Anthropic',
  GoogleGemini: 'Google Gemini',
  Cohere: 'Cohere',
  Groq: 'Groq (strict)',
  OnDevice: 'On-device model',
};

type Effect = 'rejected' | 'not-enforced';

/** What a provider supports of JSON Schema. */
export interface SchemaRules {
  /** The page of the provider that says so. */
  readonly page: string;
  readonly rejected: readonly string[];
  readonly notEnforced: readonly string[];
  /** The supported values of `format`; null if all are. */
  readonly formats: { readonly names: readonly string[]; readonly effect: Effect } | null;
  /** What happens without `additionalProperties: false`; null if nothing does. */
  readonly openObjects: Effect | null;
  readonly needsAllRequired: boolean;
  readonly needsOneRequired: boolean;
  readonly needsObjectRoot: boolean;
  readonly rejectsRootAnyOf: boolean;
  readonly recursion: Effect | null;
  readonly limits: { readonly objectLevels: number; readonly properties: number; readonly enumValues: number } | null;
}

const conditions = ['not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas'];
const objectLimits = ['patternProperties', 'propertyNames', 'minProperties', 'maxProperties', 'unevaluatedProperties'];
const listLimits = ['contains', 'minContains', 'maxContains', 'uniqueItems', 'unevaluatedItems'];
const numberLimits = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const textLimits = ['minLength', 'maxLength'];

const none = {
  rejected: [],
  notEnforced: [],
  formats: null,
  openObjects: null,
  needsAllRequired: false,
  needsOneRequired: false,
  needsObjectRoot: false,
  rejectsRootAnyOf: false,
  recursion: null,
  limits: null,
} as const;

/**
 * From the providers' pages, as of November 2026. OpenAI and Groq have these rules only with `strict: true`; without it they don't
 * enforce the schema. The client of Anthropic moves what Claude doesn't support into descriptions, and sends open and recursive
 * schemas as a tool.
 */
export const schemaRules: Readonly<Record<Exclude<SchemaTarget, 'OnDevice'>, SchemaRules>> = {
  OpenAi: {
    ...none,
    page: 'https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas',
    rejected: [
      'allOf',
      'oneOf',
      ...conditions,
      ...objectLimits,
      ...listLimits,
      'prefixItems',
      ...textLimits,
      'default',
    ],
    formats: {
      names: ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
      effect: 'rejected',
    },
    openObjects: 'rejected',
    needsAllRequired: true,
    needsObjectRoot: true,
    rejectsRootAnyOf: true,
    limits: { objectLevels: 10, properties: 5000, enumValues: 1000 },
  },
  Anthropic: {
    ...none,
    page: 'https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations',
    notEnforced: [
      ...conditions,
      ...objectLimits.filter((keyword) => keyword !== 'unevaluatedProperties'),
      ...listLimits,
      'prefixItems',
      'minItems',
      'maxItems',
      'pattern',
      ...numberLimits,
      ...textLimits,
    ],
    formats: {
      names: ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
      effect: 'not-enforced',
    },
    openObjects: 'not-enforced',
    recursion: 'not-enforced',
  },
  GoogleGemini: {
    ...none,
    page: 'https://ai.google.dev/gemini-api/docs/structured-output#json_schema_support',
    notEnforced: [
      'allOf',
      ...conditions,
      ...objectLimits,
      ...listLimits,
      'pattern',
      ...textLimits,
      'exclusiveMinimum',
      'exclusiveMaximum',
      'multipleOf',
    ],
    formats: { names: ['date-time', 'date', 'time'], effect: 'not-enforced' },
  },
  Cohere: {
    ...none,
    page: 'https://docs.cohere.com/v2/docs/structured-outputs#unsupported-schema-features',
    rejected: [
      'anyOf',
      'allOf',
      'oneOf',
      'not',
      'minimum',
      'maximum',
      'minItems',
      'maxItems',
      ...textLimits,
      'uniqueItems',
    ],
    formats: { names: ['date-time', 'uuid', 'date', 'time'], effect: 'rejected' },
    needsOneRequired: true,
    needsObjectRoot: true,
  },
  Groq: {
    ...none,
    page: 'https://console.groq.com/docs/structured-outputs#schema-requirements',
    openObjects: 'rejected',
    needsAllRequired: true,
  },
};
