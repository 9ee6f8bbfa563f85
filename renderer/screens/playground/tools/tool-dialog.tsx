import { Trash2 } from 'lucide-react';
import { useId } from 'react';
import { Button } from '../../../components/button.tsx';
import { Checkbox } from '../../../components/choices.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { TextField } from '../../../components/text-field.tsx';
import type { DraftTool, FunctionTool } from '../../../drafts/tool-drafts.ts';

function JsonField({
  label,
  text,
  onTextChange,
}: {
  label: string;
  text: string;
  onTextChange: (text: string) => void;
}) {
  const id = useId();
  return (
    <div className="labelled">
      <label htmlFor={id}>{label}</label>
      <div className="field field--area mono--small">
        <textarea
          id={id}
          rows={12}
          value={text}
          spellCheck={false}
          onChange={(event) => onTextChange(event.target.value)}
        />
      </div>
    </div>
  );
}

function FunctionFields({ tool, onChange }: { tool: FunctionTool; onChange: (tool: FunctionTool) => void }) {
  return (
    <>
      <TextField label="Name" isMono value={tool.name} onValueChange={(name) => onChange({ ...tool, name })} />
      <TextField
        label="Description"
        value={tool.description}
        onValueChange={(description) => onChange({ ...tool, description })}
      />
      <JsonField
        label="JSON schema"
        text={tool.parameters}
        onTextChange={(parameters) => onChange({ ...tool, parameters })}
      />
      <Checkbox
        label="Strict"
        isChecked={tool.strict === true}
        onCheckedChange={(isStrict) => onChange({ ...tool, strict: isStrict ? true : null })}
      />
    </>
  );
}

interface ToolDialogProps {
  tool: DraftTool;
  problem: string | null;
  /** Every edit is kept at once, valid or not. */
  onChange: (tool: DraftTool) => void;
  onRemove: () => void;
  onClose: () => void;
}

/** The fields of one tool. */
export function ToolDialog({ tool, problem, onChange, onRemove, onClose }: ToolDialogProps) {
  const footer = (
    <>
      <p className={problem ? 'small negative grow' : 'small tertiary grow'} role="status">
        {problem ?? "Touchstone doesn't run tools. You choose what each call returns."}
      </p>
      <Button icon={Trash2} onClick={onRemove}>
        Remove tool
      </Button>
      <Button variant="primary" onClick={onClose}>
        Done
      </Button>
    </>
  );
  return (
    <Dialog title="Tool" isOpen isWide onClose={onClose} footer={footer}>
      <div className="tool-form">
        {tool.kind === 'function' ? (
          <FunctionFields tool={tool} onChange={onChange} />
        ) : (
          <JsonField label="Provider tool" text={tool.json} onTextChange={(json) => onChange({ ...tool, json })} />
        )}
      </div>
    </Dialog>
  );
}
