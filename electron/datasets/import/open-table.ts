import { readFileSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import {
  findReferences,
  type ReferencedFiles,
  resolvePath,
  type TextFile,
} from '../../prompts/transfer/referenced-files.ts';
import { isMap, readJson, type ReadMap, readYaml } from '../../prompts/transfer/bounded-values.ts';
import { decodeText, TransferError } from '../../prompts/transfer/source-text.ts';
import { isLangfuse, openEvals, openGithubPrompt, openLangfuse, rowsOfEval } from './program-tables.ts';
import { openPromptfoo, openPromptfooRows } from './promptfoo-tests.ts';
import { Findings, type OpenTable, type Row, type TableFile, unreadable } from './table.ts';
import { openText, wholeText } from './text-tables.ts';
import { openWorkbook } from './workbook-table.ts';

/** Longer YAML takes too long to parse; a CSV file has no such limit. */
const maxYamlCharacters = 4_000_000;
/** Objects in JSON that are not a list of rows. */
const maxDocumentBytes = 64 * 1_048_576;

/** Different paths that one configuration may name, those that are missing included: finding one takes longer the more files there are. */
const maxReferences = 1000;

/** The files that a configuration may refer to: only those that came with it. Each is read when the first value names it. */
function companionFiles({ fileName, companions = [] }: TableFile): ReferencedFiles {
  const paths = new Map(companions.map(({ name, path }) => [name, path]));
  const read = new Map<string, readonly TextFile[]>();
  const requested = new Set<string>();
  return {
    references: requested,
    read(reference) {
      const path = resolvePath(fileName, reference);
      const known = read.get(path);
      if (known) return known;
      if (requested.size >= maxReferences)
        throw new TransferError(`The file refers to more than ${maxReferences} files`);
      requested.add(path);
      const found = findReferences({ references: [path], names: [...paths.keys()] });
      if (found.length === 0)
        throw new TransferError(
          `${path.slice(0, 200)} isn't among the imported files; add it, or import the whole folder`,
        );
      const files = found.map(({ name }) => ({ name, text: decodeText(readFileSync(paths.get(name)!)) }));
      read.set(path, files);
      return files;
    },
  };
}

async function signatureOf(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
  return buffer.subarray(0, bytesRead);
}

function parse(text: string, field: 'file' | 'definition'): unknown {
  try {
    return /^\s*[[{]/.test(text) ? readJson(text) : readYaml(text, 1, maxYamlCharacters).value;
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    const line = error.line === null ? '' : ` in line ${error.line}`;
    throw unreadable(`has a ${field === 'file' ? 'problem' : 'definition with a problem'}${line}: ${error.message}`);
  }
}

function isPromptfoo(document: ReadMap): boolean {
  return ['tests', 'scenarios', 'prompts', 'vars', 'assert'].some((key) => document.has(key));
}

/** Whether a document describes how rows are checked. */
function isDefinition(document: unknown): document is ReadMap {
  if (!isMap(document)) return false;
  const isGrader = document.has('type') && ['input', 'reference', 'source', 'graders'].some((key) => document.has(key));
  return (
    isGrader || isRegistry(document) || definitionFields.some((key) => document.has(key)) || document.has('prompts')
  );
}

const definitionFields = ['testing_criteria', 'graders', 'data_source_config', 'defaultTest', 'tests', 'scenarios'];

const isRegistry = (document: ReadMap) => [...document.values()].some((entry) => isMap(entry) && entry.has('class'));

/** A document with rows in it. */
function openDocument(document: unknown, fileName: string, files: ReferencedFiles): OpenTable {
  if (Array.isArray(document)) return openPromptfoo(document, files);
  if (!isMap(document)) throw unreadable('has no rows');
  if (/\.prompt\.ya?ml$/i.test(fileName) || document.has('testData') || document.has('evaluators'))
    return openGithubPrompt(document);
  if (document.has('testing_criteria') || document.has('data_source')) return openEvals(rowsOfEval(document), document);
  if (isPromptfoo(document)) return openPromptfoo(document.has('vars') ? [document] : document, files);
  if (isRegistry(document)) return rowsOfEval(document);
  throw unreadable('has no rows: neither tests of promptfoo, nor an eval, nor test data of GitHub Models');
}

/** An object in JSON that is a document and not a line of JSONL; null for anything else. */
async function readDocument({ path, fileName, format }: TableFile): Promise<unknown> {
  if (/\.ya?ml$/i.test(fileName)) return parse(await wholeText(path), 'file');
  // A file of one line is a row, not a document.
  if (/\.(?:jsonl|ndjson|csv|tsv)$/i.test(fileName)) return null;
  if (!/\.json$/i.test(fileName) && format !== 'promptfoo' && format !== 'openai-evals') return null;
  if ((await stat(path)).size > maxDocumentBytes) return null;
  const text = await wholeText(path);
  if (!/^\s*\{/.test(text)) return null;
  try {
    return readJson(text);
  } catch (error) {
    // Several lines of JSON.
    if (error instanceof TransferError) return null;
    throw error;
  }
}

async function firstRow(table: OpenTable): Promise<Row | null> {
  for await (const row of table.rows(new Findings())) return row;
  return null;
}

const isEvals = (row: Row) => Object.hasOwn(row, 'ideal') && Object.hasOwn(row, 'input');
const isTest = (row: Row) =>
  Object.keys(row).some((name) => /^__expected\d*$/.test(name)) ||
  ['vars', 'assert'].some((name) => Array.isArray(row[name]) || (typeof row[name] === 'object' && row[name] !== null));

/** The definition that the caller gives, or the first file beside the rows that is one. */
function definitionOf({ definition, companions = [] }: TableFile): { config: ReadMap; name: string | null } | null {
  if (definition !== undefined && definition !== null) {
    const config = parse(definition, 'definition');
    if (!isMap(config)) throw unreadable('has a definition that is no object');
    return { config, name: null };
  }
  for (const { name, path } of companions) {
    try {
      const text = decodeText(readFileSync(path));
      const config = /\.json$/i.test(name) ? readJson(text) : readYaml(text).value;
      if (isDefinition(config)) return { config, name };
    } catch (error) {
      // Cells may name any file, also one that is no definition.
      if (!(error instanceof TransferError)) throw error;
    }
  }
  return null;
}

/** Reports the file that the checks come from. */
function withDefinition(table: OpenTable, name: string | null): OpenTable {
  if (name === null) return table;
  return {
    ...table,
    rows(findings) {
      findings.add('imported', name, 'Read as the definition of the rows, which has their checks');
      return table.rows(findings);
    },
  };
}

/** Rows of a text file in the format of the program that wrote them. */
async function ofProgram(table: OpenTable, file: TableFile): Promise<OpenTable> {
  const found = definitionOf(file);
  return withDefinition(await inFormat(table, found?.config ?? null, file), found?.name ?? null);
}

async function inFormat(table: OpenTable, config: ReadMap | null, file: TableFile): Promise<OpenTable> {
  const { format } = file;
  const row = format === null ? ((await firstRow(table)) ?? {}) : {};
  if (format === 'promptfoo' || isTest(row) || (config !== null && isPromptfoo(config)))
    return openPromptfooRows(table, config, companionFiles(file));
  if (format === 'langfuse' || isLangfuse(row)) return openLangfuse(table);
  if (format === 'openai-evals' || isEvals(row) || config !== null) return openEvals(table, config);
  return table;
}

/** Opens a file in its format. Throws `invalid_request` for one that no format reads. */
export async function openTable(file: TableFile): Promise<OpenTable> {
  const signature = (await signatureOf(file.path)).toString('hex');
  // The container of Excel files from before 2007 and of encrypted ones.
  if (signature === 'd0cf11e0a1b11ae1')
    throw unreadable('is an old or a protected Excel file; save it as .xlsx without a password');
  if (signature.startsWith('504b0304')) return openWorkbook(file);
  const document = await readDocument(file);
  if (document !== null) return openDocument(document, file.fileName, companionFiles(file));
  return ofProgram(await openText(file), file);
}
