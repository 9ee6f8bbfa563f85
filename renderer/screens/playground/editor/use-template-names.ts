import { useCallback, useLayoutEffect, useRef } from 'react';
import { formatPlural } from '../../../components/format.ts';
import type { Draft } from '../../../stores/playground-drafts.ts';
import { memberNames } from '../../../drafts/variable-model.ts';
import type { TemplateState } from '../template-state.ts';
import type { ReadNames, TemplateNames } from './template-completion.ts';

/** The detail of a suggestion: the value, or the length of a long one. */
function describeValue(text: string, isUnfilled: boolean): string {
  if (isUnfilled) return 'no value';
  return text.length > 40 || text.includes('\n') ? formatPlural(text.length, 'character') : text;
}

function readNames({ fields, unfilled, mistakes }: TemplateState, draft: Draft): TemplateNames {
  const used = fields.map((field) => ({
    name: field.name,
    detail: describeValue(field.text, unfilled.includes(field)),
    starts: field.positions.map(({ start }) => start),
  }));
  const known = new Set(used.map(({ name }) => name));
  const unused = Object.entries(draft.values)
    .filter(([name, text]) => text !== '' && !known.has(name))
    .map(([name, text]) => ({ name, detail: describeValue(text, false), starts: [] }));
  return {
    variables: [...used, ...unused],
    members: Object.fromEntries(fields.map((field) => [field.name, memberNames(field)])),
    isComplete: mistakes.length === 0,
  };
}

/** The template is read later than it changes: a completion that is sought meanwhile waits, and has the names that were just typed. */
export function useTemplateNames(draft: Draft, readDraft: Draft, template: TemplateState): ReadNames {
  const names = useRef<TemplateNames>({ variables: [], members: {}, isComplete: false });
  const isRead = useRef(false);
  const waiting = useRef<PromiseWithResolvers<TemplateNames> | null>(null);
  useLayoutEffect(() => {
    names.current = readNames(template, readDraft);
  }, [template, readDraft]);
  useLayoutEffect(() => {
    isRead.current = draft === readDraft;
    if (!isRead.current) return;
    waiting.current?.resolve(names.current);
    waiting.current = null;
  }, [draft, readDraft]);
  return useCallback(() => {
    if (isRead.current) return names.current;
    waiting.current ??= Promise.withResolvers();
    return waiting.current.promise;
  }, []);
}
