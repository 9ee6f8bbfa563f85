/** Graders of OpenAI's Evals, those of the API and those of the older registry, as checks and proposals for judges. */
import type { Check } from '../../../shared/contract/checks.ts';
import type { JudgeProposal } from '../../../shared/contract/dataset-import.ts';
import { isMap, listIn, mapIn, plain, type ReadMap, textIn } from '../../prompts/transfer/bounded-values.ts';
import * as scripts from './scripts.ts';
import type { Findings } from './table.ts';

/** What graders become. Their columns are those of the items. */
export interface MappedGraders {
  readonly checks: Check[];
  readonly judges: JudgeProposal[];
}

const output = /^\s*\{\{\s*sample\.output_text\s*\}\}\s*$/;
const outputField = /^\s*\{\{\s*sample\.output_json\.([\w.-]+)\s*\}\}\s*$/;
const itemOnly = /^\s*\{\{\s*item\.([^{}\s.]+)\s*\}\}\s*$/;

const nameOf = (grader: ReadMap) => (textIn(grader, 'name') ?? textIn(grader, 'type') ?? 'grader').slice(0, 200);
const numberIn = (map: ReadMap, key: string): number | null => {
  const value = map.get(key);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
};

/** A template of the API as one of ours: the fields of an item are columns. */
function templateOf(text: string): string {
  // Spaces after the path are part of it here: an expression that tries each length of them takes quadratic time.
  return text
    .replaceAll(/\{\{\s*item\.([^{}]+)\}\}/g, (_, path: string) => `{{${path.trimEnd()}}}`)
    .replaceAll(/\{\{\s*sample\.output_(?:text|json)\s*\}\}/g, '{{answer}}');
}

/** What is expected: the value of a column, or text with columns in it. */
function expectedOf(reference: string): { column: string } | { value: string } {
  const column = itemOnly.exec(reference)?.[1];
  return column === undefined ? { value: templateOf(reference) } : { column };
}

function stringCheck(grader: ReadMap): Check | string {
  const operation = textIn(grader, 'operation') ?? '';
  let [input, reference] = [textIn(grader, 'input') ?? '', textIn(grader, 'reference') ?? ''];
  const isSymmetric = operation === 'eq' || operation === 'ne';
  if (isSymmetric && output.test(reference)) [input, reference] = [reference, input];
  const name = nameOf(grader);
  const path = outputField.exec(input)?.[1];
  if (path !== undefined && isSymmetric) {
    return { kind: 'field', name, path, ...expectedOf(reference), ...(operation === 'ne' && { not: true }) };
  }
  if (!output.test(input)) return 'Compares something else than the answer';
  switch (operation) {
    case 'eq':
      return { kind: 'equals', name, ...expectedOf(reference) };
    case 'ne':
      return { kind: 'equals', name, ...expectedOf(reference), not: true };
    case 'like':
      return { kind: 'contains', name, ...expectedOf(reference) };
    case 'ilike':
      return { kind: 'contains', name, ...expectedOf(reference), ignoreCase: true };
    default:
      return `Has the unknown operation "${operation.slice(0, 50)}"`;
  }
}

function textSimilarity(grader: ReadMap): Check | string {
  const metric = textIn(grader, 'evaluation_metric') ?? '';
  const threshold = numberIn(grader, 'pass_threshold') ?? 0.5;
  const name = nameOf(grader);
  if (!output.test(textIn(grader, 'input') ?? '')) return 'Compares something else than the answer';
  const expected = expectedOf(textIn(grader, 'reference') ?? '');
  if (metric === 'cosine')
    return { kind: 'similarity', name, ...expected, threshold: Math.min(1, Math.max(-1, threshold)) };
  if ('value' in expected) return 'Its reference is not one field of the item';
  const value = `String(row[${JSON.stringify(expected.column)}])`;
  const n = /^rouge_([1-5])$/.exec(metric)?.[1];
  const code =
    metric === 'fuzzy_match'
      ? scripts.fuzzySimilarity(value, threshold)
      : metric === 'rouge_l'
        ? scripts.rougeL(value, threshold)
        : n === undefined
          ? null
          : scripts.rougeN(value, Number(n), threshold);
  return code === null ? `No check computes ${metric.slice(0, 50)}` : { kind: 'javascript', name, code };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(textOf).join('\n');
  return isMap(content) ? (textIn(content, 'text') ?? '') : '';
}

/** The messages of a grader as one template. Judges have a system message of their own. */
function promptOf(grader: ReadMap, question: string): string {
  const messages = (listIn(grader, 'input') ?? [])
    .filter(isMap)
    .map((message) => templateOf(textOf(message.get('content'))));
  const prompt = [...messages, question].filter((text) => text !== '').join('\n\n');
  return (prompt.includes('{{answer}}') ? prompt : `${prompt}\n\nThe answer:\n{{answer}}`).slice(0, 100_000);
}

function scoreModel(grader: ReadMap, findings: Findings): JudgeProposal {
  const name = nameOf(grader);
  const range = plain(grader.get('range') ?? [0, 1]) as unknown[];
  const [low, high] = [Number(range[0] ?? 0), Number(range[1] ?? 1)];
  const passFrom = numberIn(grader, 'pass_threshold') ?? (low + high) / 2;
  const isWhole = Number.isInteger(low) && Number.isInteger(high) && high - low >= 2 && low >= -100 && high <= 100;
  if (!isWhole) findings.add('changed', name, 'The judge gives a whole number from 0 to 100');
  const share = high === low ? 0.5 : (passFrom - low) / (high - low);
  const [min, max] = isWhole ? [low, high] : [0, 100];
  const first = isWhole ? Math.ceil(passFrom) : Math.ceil(share * 100);
  return {
    name,
    promptText: promptOf(grader, isWhole ? '' : 'Give the score on a scale from 0 to 100 instead.'),
    verdict: { kind: 'score', min, max, passFrom: Math.min(max, Math.max(min + 1, first)) },
    model: textIn(grader, 'model')?.slice(0, 300) ?? null,
  };
}

function labelModel(grader: ReadMap): JudgeProposal {
  const texts = (key: string) => (listIn(grader, key) ?? []).map(String).join(', ').slice(0, 5000);
  const question = `Choose one of these labels: ${texts('labels')}. The verdict is "pass" for ${texts('passing_labels')}, and "fail" for any other label.`;
  return {
    name: nameOf(grader),
    promptText: promptOf(grader, question),
    verdict: { kind: 'passOrFail' },
    model: textIn(grader, 'model')?.slice(0, 300) ?? null,
  };
}

/** The weights of a formula such as `0.7 * exact + 0.3 * style`; null for any other. */
function weightsOf(formula: string): Map<string, number> | null {
  const weights = new Map<string, number>();
  for (const term of formula.split('+')) {
    const factors = term.split('*').map((factor) => factor.trim());
    const name = factors.find((factor) => /^[A-Za-z_]\w*$/.test(factor));
    const others = factors.filter((factor) => factor !== name).map(Number);
    const weight = others.reduce((product, factor) => product * factor, 1);
    if (name === undefined || !Number.isFinite(weight) || weight < 0 || weight > 1000 || weights.has(name)) return null;
    weights.set(name, weight);
  }
  return weights;
}

function mapMulti(grader: ReadMap, findings: Findings, depth: number): MappedGraders {
  const given = grader.get('graders');
  const graders =
    isMap(given) && !given.has('type') ? [...given] : isMap(given) ? [[nameOf(given), given] as const] : [];
  const weights = weightsOf(textIn(grader, 'calculate_output') ?? '');
  if (weights === null)
    findings.add('changed', nameOf(grader), 'Its formula is not imported: all of its graders must pass');
  const mapped: MappedGraders = { checks: [], judges: [] };
  for (const [key, inner] of graders) {
    if (!isMap(inner)) continue;
    const { checks, judges } = mapGraders([new Map([['name', key], ...inner])], findings, depth + 1);
    const weight = weights?.get(key);
    mapped.checks.push(...checks.map((check) => (weight === undefined ? check : { ...check, weight })));
    mapped.judges.push(...judges);
  }
  return mapped;
}

const skippedTypes: Readonly<Record<string, string>> = {
  python: 'Is Python, which an import never runs',
  endpoint: 'Calls a web address, which a check never does',
};

/** Maps `testing_criteria`, and reports what each became. */
export function mapGraders(graders: readonly unknown[], findings: Findings, depth = 0): MappedGraders {
  const mapped: MappedGraders = { checks: [], judges: [] };
  for (const grader of graders) {
    if (!isMap(grader)) continue;
    const type = textIn(grader, 'type') ?? '';
    const name = nameOf(grader);
    if (type === 'multi' && depth < 5) {
      const { checks, judges } = mapMulti(grader, findings, depth);
      mapped.checks.push(...checks);
      mapped.judges.push(...judges);
    } else if (type === 'score_model' || type === 'label_model') {
      mapped.judges.push(type === 'score_model' ? scoreModel(grader, findings) : labelModel(grader));
      findings.add('changed', name, 'Became a proposal for a judge, which needs a model and labels by hand');
    } else {
      const check =
        type === 'string_check'
          ? stringCheck(grader)
          : type === 'text_similarity'
            ? textSimilarity(grader)
            : (skippedTypes[type] ?? `Is a grader of the unknown type "${type.slice(0, 50)}"`);
      if (typeof check === 'string') findings.add('skipped', name, check);
      else {
        mapped.checks.push(check);
        findings.add('imported', name, `Became a check of the kind ${check.kind}`);
      }
    }
  }
  return mapped;
}

const ideal = 'row["ideal"]';

const registryClasses: Readonly<Record<string, (args: ReadMap | null) => Check>> = {
  Match: () => ({ kind: 'javascript', name: 'Match', code: scripts.startsWith(ideal) }),
  Includes: (args) => ({
    kind: 'javascript',
    name: 'Includes',
    code: scripts.containsAny(ideal, args?.get('ignore_case') === true),
  }),
  FuzzyMatch: () => ({ kind: 'javascript', name: 'FuzzyMatch', code: scripts.fuzzyMatch(ideal) }),
  JsonMatch: () => ({ kind: 'javascript', name: 'JsonMatch', code: scripts.equalJson(ideal) }),
  JsonValidator: () => ({ kind: 'jsonSchema', name: 'JsonValidator', schema: {} }),
};

/** The questions of the specifications that most evals of the registry name. */
const knownSpecifications: Readonly<Record<string, string>> = {
  fact: 'Does the answer agree with the facts of the expert answer? More or fewer details are no disagreement.\n\nQuestion:\n{{input}}\n\nExpert answer:\n{{ideal}}',
  closedqa: 'Does the answer to the task meet the criterion?\n\nTask:\n{{input}}\n\nCriterion:\n{{criteria}}',
};

function registryJudge(args: ReadMap | null, document: ReadMap): JudgeProposal | string {
  const name = textIn(args, 'modelgraded_spec') ?? '';
  const own = mapIn(document, name);
  const prompt = textIn(own, 'prompt')?.replaceAll(
    /\{(\w+)\}/g,
    (_, key: string) => `{{${key === 'completion' ? 'answer' : key}}}`,
  );
  const question = prompt ?? (Object.hasOwn(knownSpecifications, name) ? knownSpecifications[name]! : null);
  if (question === null)
    return `Its specification "${name.slice(0, 100)}" is in another file; add it to the definition`;
  const values = mapIn(args, 'modelgraded_spec_args');
  let text = question.includes('{{answer}}') ? question : `${question}\n\nThe answer:\n{{answer}}`;
  for (const [key, value] of values ?? []) text = text.replaceAll(`{{${key}}}`, () => String(value));
  const scores = mapIn(own, 'choice_scores');
  if (scores !== null) {
    const best = [...scores].filter(([, score]) => score === Math.max(...[...scores.values()].map(Number)));
    text += `\n\nThe verdict is "pass" for ${best.map(([choice]) => choice).join(', ')}, and "fail" for any other choice.`;
  }
  return { name: name.slice(0, 200), promptText: text.slice(0, 100_000), verdict: { kind: 'passOrFail' }, model: null };
}

/** The evals of a file of the older registry: their class decides what is checked. */
export function mapRegistry(document: ReadMap, findings: Findings): MappedGraders {
  const mapped: MappedGraders = { checks: [], judges: [] };
  for (const [name, entry] of document) {
    const className = isMap(entry) ? textIn(entry, 'class') : null;
    if (className === null || !isMap(entry)) continue;
    const [, kind = ''] = className.split(':');
    const args = mapIn(entry, 'args');
    if (kind === 'ModelBasedClassify') {
      const judge = registryJudge(args, document);
      if (typeof judge === 'string') findings.add('skipped', name, judge);
      else {
        mapped.judges.push(judge);
        findings.add('changed', name, 'Became a proposal for a judge, which needs a model and labels by hand');
      }
    } else if (Object.hasOwn(registryClasses, kind)) {
      const check = registryClasses[kind]!(args);
      mapped.checks.push(check);
      findings.add('imported', name, `Became a check of the kind ${check.kind}`);
    } else findings.add('skipped', name, `Its class ${kind.slice(0, 100)} is Python, which an import never runs`);
  }
  return mapped;
}
