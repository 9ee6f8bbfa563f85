import type { JsonSchema } from './json-schema.ts';
import { endSize } from './schema-end.ts';
import { fixedRules } from './schema-grammar-rules.ts';
import { type GrammarProblem, GrammarWriter, maxReferences } from './schema-grammar-writer.ts';
import { endlessReference, type ReferenceLevels, referenceCount, referenceLevels } from './schema-references.ts';

export interface Grammar {
  /** GBNF. */
  readonly text: string;
  /** The most bytes that a value needs from anywhere in it to its earliest end. */
  readonly endBytes: number;
}

export type SchemaGrammar = { readonly grammar: Grammar } | { readonly problems: readonly GrammarProblem[] };

/** How deep recursive references nest. */
const maxLevels = 8;
/** Each level repeats the schema. */
const maxLevelCharacters = 300_000;
/** A value whose required parts branch could become this long by the level at which it must end. */
const maxEndBytes = 1500;

/**
 * The grammar (GBNF) of the JSON values that a schema allows, or what of the schema no grammar can express. The schema must be
 * valid and within the limits. Every text that the grammar allows is valid JSON that follows the schema; the grammar may allow less:
 * properties come in their order, undeclared ones never, and everything that could go on without an end has a limit.
 */
export function schemaGrammar(schema: JsonSchema): SchemaGrammar {
  if (referenceCount(schema) > 2 * maxReferences) {
    return { problems: [{ pointer: '', keyword: '$ref', issue: `has more than ${2 * maxReferences} references` }] };
  }
  const levels = referenceLevels(schema);
  const minLevels = levels.of('#');
  if (minLevels === Infinity) {
    const { problems } = writeGrammar(schema, levels, 1);
    return { problems: problems.length > 0 ? problems : endlessProblems(schema, levels) };
  }
  const isRecursive = levels.leadsToRecursive('#');
  const written = Math.floor(maxLevelCharacters / JSON.stringify(schema).length);
  let levelCount = isRecursive ? Math.max(minLevels, Math.min(maxLevels, written)) : 0;
  while (levelCount > minLevels && endSize(schema, levels, levelCount).whole > maxEndBytes) levelCount -= 1;
  for (;;) {
    const { text, problems } = writeGrammar(schema, levels, levelCount);
    if (problems.length === 0) {
      const endless = endlessProblems(schema, levels);
      if (endless.length > 0) return { problems: endless };
      const { whole, rest } = endSize(schema, levels, levelCount);
      return { grammar: { text, endBytes: Math.max(whole, rest) } };
    }
    if (levelCount <= minLevels) return { problems };
    // It may be too large, because each level repeats the schema.
    levelCount = Math.max(minLevels, Math.floor(levelCount / 2));
  }
}

function writeGrammar(schema: JsonSchema, levels: ReferenceLevels, levelCount: number) {
  const writer = new GrammarWriter(schema, levels, levelCount);
  return { text: writer.write(), problems: writer.problems };
}

function endlessProblems(schema: JsonSchema, levels: ReferenceLevels): GrammarProblem[] {
  const endless = endlessReference(schema, levels);
  if (endless === null) return [];
  return [{ pointer: endless.slice(1), keyword: '$ref', issue: 'refers to itself without an end' }];
}

/** Any JSON object. */
export const objectGrammar: Grammar = { text: `root ::= object\n${fixedRules}`, endBytes: 60 };
