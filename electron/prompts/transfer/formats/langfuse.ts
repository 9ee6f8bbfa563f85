import { isMap, listIn, mapIn, readJson, textIn, type ReadMap } from '../bounded-values.ts';
import { baseName, type Draft, emptyDraft, note, type Reader } from '../draft.ts';
import { TransferError } from '../source-text.ts';
import { takeParameters } from '../parameter-names.ts';
import { takeMessages } from './openai-jsonl.ts';

function isPrompt(value: unknown): value is ReadMap {
  return isMap(value) && (typeof value.get('prompt') === 'string' || Array.isArray(value.get('prompt')));
}

function versionOf(prompt: ReadMap): number {
  const version = prompt.get('version');
  return typeof version === 'number' ? version : 0;
}

function draftOf(prompt: ReadMap, fileName: string): Draft {
  const draft = emptyDraft(textIn(prompt, 'name') ?? baseName(fileName));
  const content = prompt.get('prompt');
  draft.style = 'handlebars';
  draft.tags = (listIn(prompt, 'tags') ?? []).filter((tag) => typeof tag === 'string');
  draft.note = textIn(prompt, 'commitMessage');
  takeMessages(draft, Array.isArray(content) ? content : [content], null);
  const config = mapIn(prompt, 'config');
  const model = textIn(config, 'model');
  if (model !== null) draft.model = { aiSystem: null, model };
  if (config !== null) {
    const settings = new Map([...config].filter(([key]) => key !== 'model'));
    takeParameters(draft, settings, { field: 'config' });
  }
  if ((listIn(prompt, 'labels') ?? []).length > 0) {
    note(draft, 'refused', 'labels', "Labels aren't imported; add them after the import");
  }
  return draft;
}

/** Prompts in Langfuse's response format: one, a list, or a list in `data`. Of equal names the newest version is imported. */
export const readLangfuse: Reader = (text, { name }) => {
  const value = readJson(text);
  const listed = isMap(value) ? listIn(value, 'data') : null;
  const found = (listed ?? (Array.isArray(value) ? value : [value])).filter(isPrompt);
  if (found.length === 0)
    throw new TransferError('No prompt found; Langfuse lists contain only names, so export each prompt with its text');
  const newest = new Map<string, ReadMap>();
  const versions = new Map<string, number>();
  for (const prompt of found) {
    const key = textIn(prompt, 'name') ?? '';
    const other = newest.get(key);
    versions.set(key, (versions.get(key) ?? 0) + 1);
    if (other === undefined || key === '' || versionOf(other) < versionOf(prompt))
      newest.set(key === '' ? String(newest.size) : key, prompt);
  }
  return [...newest.values()].map((prompt) => {
    const draft = draftOf(prompt, name);
    const count = versions.get(textIn(prompt, 'name') ?? '') ?? 1;
    if (count > 1 && prompt.has('name'))
      note(draft, 'refused', 'version', `Only the newest of ${count} versions is imported`);
    return draft;
  });
};
