import { anyNumber } from './schema-number-grammar.ts';

export const maxListLength = 200;
/**
 * A weak model doesn't end a list or a text. These limits end them where a schema has none. Texts get a larger one than `maxLength`,
 * because a sentence must not be cut: blocks of 40 characters need few copies.
 */
export const maxOpenMapSize = 200;
const textBlock = 40;
const maxTextBlocks = 100;
/** Levels of values that have no schema. */
const maxAnyLevels = 5;

/** Values without a schema, with `level` more levels inside. */
function anyValueRules(level: number): string {
  const scalar = `string | ${anyNumber} | "true" | "false" | "null"`;
  if (level === 0) return `value0 ::= ${scalar}`;
  const inner = `value${level - 1}`;
  const more = `{0,${maxListLength - 1}}`;
  return [
    `pair${level} ::= string ":" ws ${inner}`,
    `object${level} ::= "{" ws ( pair${level} ( "," ws pair${level} )${more} ws )? "}"`,
    `list${level} ::= "[" ws ( ${inner} ( "," ws ${inner} )${more} ws )? "]"`,
    `value${level} ::= object${level} | list${level} | ${scalar}`,
  ].join('\n');
}

/** The rules that every grammar has. */
export const fixedRules = String.raw`ws ::= | " " | "\n" [ \t]{0,20}
char ::= [^"\\\x7F\x00-\x1F] | "\\" ["\\/bfnrt]
block ::= char{${textBlock}}
text ::= block{0,${maxTextBlocks}} char{0,${textBlock - 1}}
string ::= "\"" text "\""
${Array.from({ length: maxAnyLevels + 1 }, (_, level) => anyValueRules(level)).join('\n')}
object ::= object${maxAnyLevels}
value ::= value${maxAnyLevels}
date ::= [0-9]{4} "-" ( ("01" | "03" | "05" | "07" | "08" | "10" | "12") "-" ("0" [1-9] | [1-2] [0-9] | "3" [0-1]) | ("04" | "06" | "09" | "11") "-" ("0" [1-9] | [1-2] [0-9] | "30") | "02-" ("0" [1-9] | "1" [0-9] | "2" [0-8]) )
time ::= ([0-1] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{1,3})? ("Z" | [+-] ("0" [0-9] | "1" [0-3]) ":" [0-5] [0-9])
hex ::= [0-9a-f]
name ::= [a-z0-9]{1,30}`;

/** Rules of the formats of texts. */
export const formats: Readonly<Record<string, string>> = {
  date: 'date',
  time: 'time',
  'date-time': 'date "T" time',
  uuid: 'hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12}',
  email: 'name ("." name){0,3} "@" name ("." name){0,2} "." [a-z]{2,10}',
};

/** A text in quotes, as GBNF writes it. */
export function literal(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
