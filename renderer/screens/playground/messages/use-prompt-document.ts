import { useEffect, useState, useSyncExternalStore } from 'react';
import { editorText } from '../../../components/editor/text-change.ts';
import { promptEdit, useDrafts, type Draft } from '../../../stores/playground-drafts.ts';
import { PromptDocument } from './prompt-document.ts';

function readDraft(draftId: string): Draft | undefined {
  return useDrafts.getState().drafts.find(({ id }) => id === draftId);
}

/** The template of a draft as a document with a history. An edit changes the draft, and a draft changed elsewhere the document. */
export function usePromptDocument(draftId: string): PromptDocument {
  const [document] = useState(() => new PromptDocument(readDraft(draftId)?.promptText ?? ''));
  useSyncExternalStore(document.subscribe, document.snapshot);
  useEffect(() => {
    const pull = (): void => {
      const draft = readDraft(draftId);
      if (draft) document.replaceText(draft.promptText);
    };
    const push = (): void => {
      const draft = readDraft(draftId);
      if (draft && editorText(draft.promptText) !== document.text)
        useDrafts.getState().change(draftId, promptEdit(draft, document.text));
    };
    pull();
    const removers = [useDrafts.subscribe(pull), document.subscribe(push)];
    return () => {
      for (const remove of removers) remove();
    };
  }, [document, draftId]);
  return document;
}
