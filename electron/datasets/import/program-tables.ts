/** Files of other programs whose rows need more than their cells: OpenAI Evals, GitHub Models and Langfuse. */
import type { Check } from '../../../shared/contract/checks.ts';
import type { JudgeProposal } from '../../../shared/contract/dataset-import.ts';
import type { DatasetColumn } from '../../../shared/contract/datasets.ts';
import { isMap, listIn, mapIn, plain, type ReadMap, textIn } from '../../prompts/transfer/bounded-values.ts';
import { mapGraders, type MappedGraders, mapRegistry } from './evals-graders.ts';
import * as scripts from './scripts.ts';
import { type Findings, type OpenTable, type Row, unreadable } from './table.ts';

interface Mapped {
  readonly checks: readonly Check[];
  readonly judges: readonly JudgeProposal[];
}

/** A table whose checks and judges don't depend on its rows. */
function withChecks(table: OpenTable, map: (findings: Findings) => Mapped): OpenTable {
  let mapped: Mapped = { checks: [], judges: [] };
  return {
    ...table,
    rows(findings) {
      mapped = map(findings);
      return table.rows(findings);
    },
    checks: () => mapped.checks.slice(0, 100),
    judges: () => mapped.judges.slice(0, 20),
  };
}

function mapEval(definition: ReadMap | null, findings: Findings): MappedGraders {
  if (definition === null) return { checks: [], judges: [] };
  const criteria = listIn(definition, 'testing_criteria') ?? listIn(definition, 'graders');
  if (criteria !== null) return mapGraders(criteria, findings);
  const isGrader = textIn(definition, 'type') !== null;
  return isGrader ? mapGraders([definition], findings) : mapRegistry(definition, findings);
}

interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
}

/** The system message and the other messages of a chat as texts, which prompts can use. */
function textsOfChat(input: unknown): { system: string; text: string } | null {
  if (!Array.isArray(input) || input.length === 0) return null;
  const messages = input as readonly (Message | null)[];
  if (!messages.every((message) => typeof message?.role === 'string' && typeof message.content === 'string'))
    return null;
  const isSystem = (message: Message | null) => message!.role === 'system' || message!.role === 'developer';
  const others = messages.filter((message) => !isSystem(message));
  const text =
    others.length === 1
      ? String(others[0]!.content)
      : others.map((message) => `${String(message!.role)}: ${String(message!.content)}`).join('\n\n');
  return {
    system: messages
      .filter(isSystem)
      .map((message) => String(message!.content))
      .join('\n\n'),
    text,
  };
}

/** Samples of OpenAI Evals. `definition` is the eval of the API, a grader, or the file of the registry. */
export function openEvals(table: OpenTable, definition: ReadMap | null): OpenTable {
  const samples: OpenTable = {
    ...table,
    format: 'openai-evals',
    async *rows(findings) {
      for await (const row of table.rows(findings)) {
        const chat = textsOfChat(row['input']);
        if (chat === null) {
          yield row;
          continue;
        }
        findings.add('imported', 'input', 'Its messages are also in the columns input_text and system', 1);
        yield { ...row, input_text: chat.text, ...(chat.system !== '' && { system: chat.system }) };
      }
    },
  };
  return withChecks(samples, (findings) => mapEval(definition, findings));
}

/** The rows inside of an eval or of one of its runs. */
export function rowsOfEval(document: ReadMap): OpenTable {
  const source = mapIn(mapIn(document, 'data_source'), 'source') ?? mapIn(document, 'source');
  const content = listIn(source, 'content') ?? listIn(document, 'content') ?? listIn(document, 'data');
  if (content === null)
    throw unreadable('has graders and no rows; import the samples, and send this text as the field `definition`');
  return listTable(
    'openai-evals',
    content.map((entry) => (isMap(entry) ? (mapIn(entry, 'item') ?? entry) : entry)),
  );
}

function listTable(format: OpenTable['format'], list: readonly unknown[]): OpenTable {
  return {
    format,
    *rows() {
      for (const [index, row] of list.entries()) {
        if (!isMap(row)) throw unreadable(`has no object at [${index}]`);
        yield plain(row) as Row;
      }
    },
  };
}

const builtInEvaluators: Readonly<Record<string, string>> = {
  'github/relevance': 'Is the answer relevant to the input?',
  'github/coherence': 'Is the answer coherent: well organised and easy to follow?',
  'github/fluency': 'Is the answer fluent and grammatically correct?',
  'github/groundedness': 'Is everything in the answer supported by the context?\n\nContext:\n{{context}}',
};

function stringEvaluator(name: string, rule: ReadMap): Check | null {
  for (const [operation, given] of rule) {
    const value = String(given);
    const expected = /^\s*\{\{\s*([\w.-]+)\s*\}\}\s*$/.exec(value)?.[1];
    const code = expected === undefined ? JSON.stringify(value) : `String(row[${JSON.stringify(expected)}])`;
    if (operation === 'equals') return { kind: 'equals', name, ...(expected ? { column: expected } : { value }) };
    if (operation === 'contains') return { kind: 'contains', name, ...(expected ? { column: expected } : { value }) };
    if (operation === 'startsWith') return { kind: 'javascript', name, code: scripts.startsWith(code) };
    if (operation === 'endsWith') return { kind: 'javascript', name, code: scripts.endsWith(code) };
  }
  return null;
}

function judgeOf(name: string, rule: ReadMap): JudgeProposal {
  const answer = (text: string) => text.replaceAll(/\{\{\s*(?:completion|output|response)\s*\}\}/g, '{{answer}}');
  const prompt = answer([textIn(rule, 'systemPrompt'), textIn(rule, 'prompt')].filter(Boolean).join('\n\n'));
  const choices = (listIn(rule, 'choices') ?? []).filter(isMap);
  const best = Math.max(...choices.map((choice) => Number(choice.get('score') ?? 0)));
  const passing = choices
    .filter((choice) => Number(choice.get('score') ?? 0) === best)
    .map((choice) => String(choice.get('choice')));
  const verdict =
    passing.length === 0 ? '' : `\n\nThe verdict is "pass" for ${passing.join(', ')}, and "fail" for any other choice.`;
  const text = prompt.includes('{{answer}}') ? prompt : `${prompt}\n\nThe answer:\n{{answer}}`;
  const model = textIn(rule, 'modelId')?.slice(0, 300) ?? null;
  return { name, promptText: `${text}${verdict}`.slice(0, 100_000), verdict: { kind: 'passOrFail' }, model };
}

function mapEvaluators(evaluators: readonly unknown[], findings: Findings): Mapped {
  const checks: Check[] = [];
  const judges: JudgeProposal[] = [];
  for (const evaluator of evaluators.filter(isMap)) {
    const uses = textIn(evaluator, 'uses');
    const name = (textIn(evaluator, 'name') ?? uses ?? 'evaluator').slice(0, 200);
    const [rule, llm] = [mapIn(evaluator, 'string'), mapIn(evaluator, 'llm')];
    const check = rule
      ? stringEvaluator(name, rule)
      : uses === 'github/similarity'
        ? ({ kind: 'similarity', name, column: 'expected' } as const)
        : null;
    const question = uses === null ? undefined : builtInEvaluators[uses];
    const judge = llm
      ? judgeOf(name, llm)
      : question === undefined
        ? null
        : judgeOf(name, new Map([['prompt', `${question}\n\nInput:\n{{input}}`]]));
    if (check) checks.push(check);
    if (judge) judges.push(judge);
    if (check) findings.add('imported', name, `Became a check of the kind ${check.kind}`);
    else if (judge)
      findings.add('changed', name, 'Became a proposal for a judge, which needs a model and labels by hand');
    else findings.add('skipped', name, 'No check does this');
  }
  return { checks, judges };
}

/** The test data and the evaluators of a `.prompt.yml` file of GitHub Models. */
export function openGithubPrompt(document: ReadMap): OpenTable {
  const rows = listIn(document, 'testData') ?? [];
  return withChecks(listTable('github-models', rows), (findings) => {
    if (document.has('messages'))
      findings.add('skipped', 'messages', 'Are a prompt: import the file in the library, too');
    return mapEvaluators(listIn(document, 'evaluators') ?? [], findings);
  });
}

/** Fields of Langfuse that describe an item and not its content. */
const bookkeeping = new Set(
  [
    ...[
      'id',
      'projectId',
      'datasetId',
      'datasetName',
      'sourceTraceId',
      'sourceObservationId',
      'createdAt',
      'updatedAt',
    ],
    ...['status', 'validFrom', 'validTo', 'isDeleted', 'media'],
  ].flatMap((name) => [name, name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
);

const isLangfuseField = (name: string) => name !== 'id' && name !== 'status' && bookkeeping.has(name);

/** Whether a row is an item of a dataset of Langfuse. */
export function isLangfuse(row: Row): boolean {
  const names = Object.keys(row);
  return (
    names.includes('input') &&
    names.some((name) => name === 'expectedOutput' || name === 'expected_output') &&
    names.some(isLangfuseField)
  );
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** The items of a dataset of Langfuse. Cells of a CSV file hold JSON. */
export function openLangfuse(table: OpenTable): OpenTable {
  const types = new Map<string, DatasetColumn['type']>();
  return {
    ...table,
    format: 'langfuse',
    types,
    async *rows(findings) {
      for await (const row of table.rows(findings)) {
        if (row['status'] === 'ARCHIVED') {
          findings.add('skipped', 'status', 'The item is archived', 1);
          continue;
        }
        const content = Object.entries(row).filter(([name]) => {
          if (bookkeeping.has(name)) findings.add('skipped', name, 'Describes the item in Langfuse', 1);
          return !bookkeeping.has(name);
        });
        yield Object.fromEntries(content.map(([name, value]) => [name, parsed(value)]));
      }
    },
  };
}
