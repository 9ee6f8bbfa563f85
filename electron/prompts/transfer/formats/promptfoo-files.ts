/** Files of a promptfoo configuration: prompts, tests and values. */

import papaparse from 'papaparse';
import { isMap, plain, readJson, readYaml, type ReadMap } from '../bounded-values.ts';
import { baseName } from '../draft.ts';
import { TransferError } from '../source-text.ts';
import type { ReferencedFiles, TextFile } from '../referenced-files.ts';

/** The text of a prompt, and its source. */
export interface PromptText {
  readonly text: string;
  /** Null for a text inside the configuration. */
  readonly file: string | null;
  readonly name: string | null;
}

const services: Readonly<Record<string, string>> = { langfuse: 'Langfuse', portkey: 'Portkey', helicone: 'Helicone' };
const codeExtension = /\.(?:[cm]?[jt]sx?|py|rb|pl|php|go|sh|bash|bat|cmd|ps1|exe)$/i;
const textExtension = /\.(?:txt|md|json|jsonl|ya?ml|csv|j2|jinja2?|njk)$/i;

const short = (text: string) => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

/** Names of functions follow the path of their code: `prompt.py:create`. */
function withoutFunction(path: string): string {
  const colon = path.lastIndexOf(':');
  return colon > 0 && codeExtension.test(path.slice(0, colon)) ? path.slice(0, colon) : path;
}

/** Throws `TransferError` for files that an import never opens. */
export function rejectRemote(entry: string): void {
  const scheme = /^([a-z]+):\/\//.exec(entry)?.[1] ?? '';
  const service = services[scheme];
  if (service !== undefined) {
    const advice = scheme === 'langfuse' ? 'export it from Langfuse as JSON and import that file' : 'copy its text';
    throw new TransferError(`${short(entry)} is a prompt stored in ${service}, not a file; to import it, ${advice}`);
  }
  if (scheme === 'http' || scheme === 'https')
    throw new TransferError(
      `${short(entry)} is a web address, which an import never opens; download it and add the file`,
    );
  if (/^(?:exec|python|ruby|golang):/.test(entry) || codeExtension.test(withoutFunction(entry)))
    throw new TransferError(`${short(entry)} is code, which an import never runs; add the prompt as text`);
}

/** The path in an entry; null for a prompt itself. Throws `TransferError` for files that an import never opens. */
export function pathOf(entry: string): string | null {
  const path = entry.trim();
  if (path.includes('\n') || path.length > 1000) return null;
  if (path.startsWith('file://')) {
    rejectRemote(path.slice('file://'.length));
    return path;
  }
  if (/\s/.test(path)) return null;
  rejectRemote(path);
  return textExtension.test(path) || (path.includes('*') && path.includes('/')) ? path : null;
}

function lines(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '');
}

/** Rows as maps with the names of the first row. */
function csvRows(text: string): ReadMap[] {
  const { data } = papaparse.parse<string[]>(text.replace(/^\uFEFF/, ''), { skipEmptyLines: 'greedy' });
  const [header = [], ...rows] = data;
  return rows.map((row) => new Map(header.map((name, index) => [name.trim(), row[index] ?? ''])));
}

function csvPrompts(text: string): { text: string; name: string | null }[] {
  const rows = csvRows(text).filter((row) => String(row.get('prompt') ?? '').trim() !== '');
  if (rows.length > 0)
    return rows.map((row) => ({ text: String(row.get('prompt')), name: String(row.get('label') ?? '') || null }));
  // Without columns, each line is a prompt.
  const all = lines(text);
  return (all[0]?.trim().toLowerCase() === 'prompt' ? all.slice(1) : all).map((line) => ({ text: line, name: null }));
}

/** Lines of three hyphens separate prompts. */
function separated(text: string): string[] {
  const texts: string[][] = [[]];
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '---') texts.push([]);
    else texts.at(-1)!.push(line);
  }
  return texts.map((part) => part.join('\n').trim()).filter((part) => part !== '');
}

function promptsIn({ name, text }: TextFile): { text: string; name: string | null }[] {
  const unnamed = (texts: readonly string[]) => texts.map((one) => ({ text: one, name: null }));
  if (/\.txt$/i.test(name)) return unnamed(separated(text));
  if (/\.jsonl$/i.test(name)) return unnamed(lines(text));
  if (/\.csv$/i.test(name)) return csvPrompts(text);
  if (!/\.ya?ml$/i.test(name)) return unnamed([text.trim()]);
  const { value } = readYaml(text);
  return unnamed([typeof value === 'string' ? value : JSON.stringify(plain(value))]);
}

/** The prompts of the files at a path. Throws `TransferError` if there are none or one can't be read. */
export function readPromptFiles(path: string, files: ReferencedFiles): PromptText[] {
  return files.read(path).flatMap((file) => {
    rejectRemote(file.name);
    return named(file.name, () => {
      const prompts = promptsIn(file);
      if (prompts.length === 0) throw new TransferError('The file has no prompts');
      return prompts.map(({ text, name }, index) => {
        const own = prompts.length === 1 ? baseName(file.name) : `${baseName(file.name)} ${index + 1}`;
        return { text, file: file.name, name: name ?? own };
      });
    });
  });
}

/** A reason in a separate file names that file. */
function named<Result>(file: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    const at = error.line === null ? '' : `, line ${error.line}`;
    throw new TransferError(`${file}${at}: ${error.message}`);
  }
}

/** The objects of the files at a path: tests, variables or a provider. Throws `TransferError`. */
export function readObjectFiles(path: string, files: ReferencedFiles): ReadMap[] {
  return files.read(path).flatMap((file) => {
    rejectRemote(file.name);
    return named(file.name, () => {
      if (/\.csv$/i.test(file.name)) return csvRows(file.text);
      const value = /\.jsonl$/i.test(file.name)
        ? lines(file.text).map((line) => readJson(line))
        : /\.json$/i.test(file.name)
          ? readJson(file.text)
          : readYaml(file.text).value;
      return (Array.isArray(value) ? value : [value]).filter(isMap);
    });
  });
}

/** A value of a variable, or the text of the file that it names. Throws `TransferError`. */
export function readValueFile(value: string, files: ReferencedFiles): unknown {
  const path = value.slice('file://'.length);
  rejectRemote(path);
  if (!textExtension.test(path)) throw new TransferError(`${short(path)} isn't a text file`);
  const [file] = files.read(path);
  if (/\.json$/i.test(path)) return named(file!.name, () => readJson(file!.text));
  return /\.ya?ml$/i.test(path) ? named(file!.name, () => readYaml(file!.text).value) : file!.text.trim();
}

/** The code of an assertion in a file, as the body of a function: what the file exports, called. Throws `TransferError` for code with imports. */
export function readScriptFile(value: string, files: ReferencedFiles): string {
  const found = /^file:\/\/(.*?\.[cm]?js)(?::([\w$]+))?$/.exec(value.trim());
  if (!found) throw new TransferError(`${short(value)} isn't JavaScript; only JavaScript runs in checks`);
  const [, path = '', exported] = found;
  const [file] = files.read(path);
  return named(file!.name, () => callOf(file!.text, exported ?? null));
}

const exportDefault = /^[ \t]*export[ \t]+default[ \t]+/m;
const exportNamed = /^[ \t]*export[ \t]+(?=(?:async[ \t]+)?(?:function|const|let|class)\b)/gm;

/** A module in the form of CommonJS or with `export`, as the call of its function in a sandbox without modules. */
function callOf(code: string, exported: string | null): string {
  const names = [...code.matchAll(/^[ \t]*export[ \t]+(?:async[ \t]+)?(?:function|const|let)[ \t]+([\w$]+)/gm)].map(
    ([, name]) => name!,
  );
  const body = code.replace(exportDefault, 'module.exports.default = ').replaceAll(exportNamed, '');
  if (/\b(?:require|import)\b|\bawait\b|\basync\b|\bfetch\(|\bprocess\./.test(body))
    throw new TransferError('The code uses modules, promises or the network, which checks can not');
  const assigned = names.map((name) => `module.exports.${name} = ${name};`).join('\n');
  const chosen = exported === null ? 'exported.default ?? exported' : `exported[${JSON.stringify(exported)}]`;
  return `const exported = (() => {
const module = { exports: {} };
let exports = module.exports;
${body}
${assigned}
return module.exports;
})();
return (${chosen})(output, context);`;
}
