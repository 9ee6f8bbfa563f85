import { useState } from 'react';
import { ToolsEditor } from '../../components/tools/tools-editor.tsx';
import { useActions } from '../../stores/actions.ts';
import { useActiveDraft, useDrafts } from '../../stores/playground-drafts.ts';
import { openToolId, useOpenParts } from './session/playground-session.tsx';

/** The tools of the open draft and of the library, in place of prompt and answer. */
export function ToolsView() {
  const draft = useActiveDraft();
  const { openPart, open, close } = useOpenParts();
  const [isPasting, setPasting] = useState(false);
  const done = (): void => {
    if (openPart !== null) close(openPart);
  };
  useActions('playground.tools', [
    {
      id: 'playground.tools.close',
      title: 'Close tools',
      group: 'Playground',
      keys: 'Escape',
      worksWhileTyping: true,
      isEnabled: !isPasting,
      run: done,
    },
  ]);
  return (
    <ToolsEditor
      draft={draft}
      onChange={(change) => {
        const { drafts, change: changeDraft } = useDrafts.getState();
        const now = drafts.find(({ id }) => id === draft.id);
        if (!now) return;
        const { tools, toolChoice } = change(now);
        changeDraft(draft.id, { tools: tools ?? [], toolChoice });
      }}
      subject="prompt"
      title={draft.name}
      selectedId={openToolId(openPart)}
      onSelect={(toolId) => open(`tools/${toolId}`)}
      shownRunId={draft.shownRunId}
      isPasting={isPasting}
      onPastingChange={setPasting}
      onClose={done}
    />
  );
}
