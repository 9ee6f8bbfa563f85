/** What a template is compiled to. */

import type { Span } from './prompt-template-syntax.ts';

/** A way from the replacements to a value; `*` stands for every item of a list. Null where only a run can tell. */
export type Place = readonly string[] | null;

export interface PathExpression {
  readonly type: 'path';
  readonly source: 'context' | 'data' | 'parameter';
  /** Contexts, data frames or parameter lists to go up before the parts are looked up. */
  readonly up: number;
  readonly parts: readonly string[];
  /** Keys that fill the path when they are given as they are written, `customer.name` for `{{customer.name}}`. */
  readonly literalKeys: readonly string[];
  /** What a person calls it. */
  readonly name: string;
}

export type Expression =
  | PathExpression
  | { readonly type: 'literal'; readonly value: unknown }
  | { readonly type: 'lookup'; readonly target: Expression; readonly key: Expression; readonly name: string };

export type BlockKind = 'if' | 'unless' | 'each' | 'with' | 'plain';

export type Instruction =
  | { readonly type: 'content'; readonly text: string }
  | { readonly type: 'value'; readonly value: Expression }
  | {
      readonly type: 'block';
      readonly kind: BlockKind;
      readonly value: Expression;
      readonly includeZero: Expression | null;
      readonly program: Program | null;
      readonly inverse: Program | null;
    };

export interface Program {
  readonly body: readonly Instruction[];
  /** Whether it declares parameters (`as |item index|`). */
  readonly hasParameters: boolean;
}

/** How a template uses a value. */
export type Use = 'text' | 'list' | 'object' | 'condition' | 'section';

export interface Occurrence extends Span {
  readonly place: readonly string[];
  readonly use: Use;
}
