import { renderHook } from '@testing-library/react';
import { expect, test } from 'vitest';
import { useTemplateNames } from '../../../../../../renderer/screens/playground/editor/use-template-names.ts';
import { readTemplate } from '../../../../../../renderer/screens/playground/template-state.ts';
import { getActiveDraft, useDrafts } from '../../../../../../renderer/stores/playground-drafts.ts';
import { parseTemplate } from '../../../../../../shared/prompt-template.ts';

/** A draft and its template, as the prompt's panel has them when the template was read. */
function draftOf(promptText: string) {
  const draft = { ...getActiveDraft(useDrafts.getState()), promptText, values: {} };
  const parsed = parseTemplate(promptText);
  return { draft, template: readTemplate(parsed, parsed.variables, draft, {}) };
}

test('names that are sought before a changed template is read come when it is', async () => {
  const old = draftOf('{{city}}');
  const changed = draftOf('{{customer.name}}');
  const { result, rerender } = renderHook(({ draft, read }) => useTemplateNames(draft, read.draft, read.template), {
    initialProps: { draft: old.draft, read: old },
  });
  expect(result.current()).toMatchObject({ variables: [{ name: 'city' }], isComplete: true });
  rerender({ draft: changed.draft, read: old });
  const names = result.current();
  expect(names).toBeInstanceOf(Promise);
  rerender({ draft: changed.draft, read: changed });
  expect(await names).toMatchObject({ variables: [{ name: 'customer.name' }], isComplete: true });
  expect(result.current()).toMatchObject({ variables: [{ name: 'customer.name' }] });
});

test('names of a template with a mistake may lack some', () => {
  const { draft, template } = draftOf('{{}}');
  const { result } = renderHook(() => useTemplateNames(draft, draft, template));
  expect(result.current()).toMatchObject({ isComplete: false });
});
