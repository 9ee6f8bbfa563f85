import { Dialog as Primitive } from 'radix-ui';
import { useState } from 'react';
import { ModalLayer } from '../../components/dialog.tsx';
import { ToolChips, ToolParameters } from '../../components/tools/tool-chips.tsx';
import { ToolsEditor } from '../../components/tools/tools-editor.tsx';
import type { DraftTools } from '../../drafts/tool-drafts.ts';
import type { AgentFields } from './agent-fields.tsx';

interface AgentToolsProps {
  fields: AgentFields;
  onChange: (change: (before: AgentFields) => Partial<AgentFields>) => void;
}

function toolsOf({ tools = [], toolChoice, parallelToolCalls = null }: DraftTools): Required<DraftTools> {
  return { tools, toolChoice, parallelToolCalls };
}

/** The tools of an agent. They open in the editor of the playground, which covers the window. */
export function AgentTools({ fields, onChange }: AgentToolsProps) {
  const [openId, setOpenId] = useState<string | null>(null);
  const [isPasting, setPasting] = useState(false);
  const close = (): void => setOpenId(null);
  return (
    <>
      <div className="agents__tools row" role="group" aria-label="Tools">
        <ToolChips draft={fields} onOpen={setOpenId} />
      </div>
      <ToolParameters draft={fields} onChange={(change) => onChange(() => change)} />
      {fields.tools.length > 0 && (
        <p className="caption tertiary">
          Touchstone doesn&apos;t run tools. Conversations here continue with your results or mocks; programs send their
          own.
        </p>
      )}
      <ModalLayer isOpen={openId !== null} onClose={close} className="agents__tool-editor">
        <Primitive.Title className="visually-hidden">Tools of {fields.name || 'the agent'}</Primitive.Title>
        <ToolsEditor
          draft={fields}
          onChange={(change) => onChange((before) => toolsOf(change(before)))}
          subject="agent"
          title={fields.name || 'New agent'}
          selectedId={openId}
          onSelect={setOpenId}
          shownRunId={null}
          isPasting={isPasting}
          onPastingChange={setPasting}
          onClose={close}
        />
      </ModalLayer>
    </>
  );
}
