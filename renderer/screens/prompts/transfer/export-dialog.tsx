import { useState } from 'react';
import { maxTransferredPrompts, type ExportFormat } from '../../../../shared/contract/prompt-transfer.ts';
import type { Prompt } from '../../../../shared/contract/prompts.ts';
import { Button } from '../../../components/button.tsx';
import { Checkbox } from '../../../components/choices.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatPlural } from '../../../components/format.ts';
import { Select } from '../../../components/select.tsx';
import { describeError } from '../../../components/state-panels.tsx';
import { saveFile } from '../../../components/save-file.ts';
import { useExportPrompts } from './transfer.ts';

const formats = [
  { value: 'dotprompt', label: 'dotprompt (.prompt)' },
  { value: 'promptfoo', label: 'promptfoo (YAML)' },
  { value: 'jsonl', label: 'OpenAI chat (JSONL)' },
  { value: 'markdown', label: 'Markdown, for reading' },
] as const satisfies readonly { value: ExportFormat; label: string }[];

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));

function PromptChoice(props: {
  prompts: readonly Prompt[];
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}) {
  const { prompts, chosen, onChange } = props;
  const toggle = (id: string, isChosen: boolean) =>
    onChange(new Set(isChosen ? [...chosen, id] : [...chosen].filter((one) => one !== id)));
  return (
    <>
      <Checkbox
        label="Select all"
        isChecked={chosen.size === prompts.length}
        onCheckedChange={(isChosen) => onChange(new Set(isChosen ? prompts.map(({ id }) => id) : []))}
      />
      <div className="import-report scroll" tabIndex={0} role="region" aria-label="Prompts to export">
        {prompts.map(({ id, name, folder }) => (
          <div key={id} className="row">
            <Checkbox label={name} isChecked={chosen.has(id)} onCheckedChange={(isChosen) => toggle(id, isChosen)} />
            <span className="small tertiary truncate">{folder}</span>
          </div>
        ))}
      </div>
    </>
  );
}

/** Saves the newest versions of the selected prompts; several files become one archive. `prompts` are those of the list. */
export function ExportDialog({ prompts, onClose }: { prompts: readonly Prompt[]; onClose: () => void }) {
  const offered = prompts.slice(0, maxTransferredPrompts);
  const [format, setFormat] = useState<ExportFormat>('dotprompt');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(offered.map(({ id }) => id)));
  const write = useExportPrompts();
  const save = (): void => {
    const ids = offered.map(({ id }) => id).filter((id) => chosen.has(id));
    write.mutate(
      { ids, format },
      {
        onSuccess: ({ files, archive, entries }) => {
          if (archive) saveFile(archive.name, bytesOf(archive.base64));
          for (const { name, content } of files) saveFile(name.split('/').at(-1)!, content);
          if (entries.length === 0) onClose();
        },
      },
    );
  };
  const footer = (
    <>
      <Button onClick={onClose}>Close</Button>
      <Button variant="primary" isBusy={write.isPending} aria-disabled={chosen.size === 0 || undefined} onClick={save}>
        Export {formatPlural(chosen.size, 'prompt')}
      </Button>
    </>
  );
  return (
    <Dialog title="Export prompts" isOpen isWide onClose={onClose} footer={footer}>
      <div className="prompts__form">
        <Select label="Format" isLabelHidden={false} value={format} onValueChange={setFormat} options={formats} />
        <PromptChoice prompts={offered} chosen={chosen} onChange={setChosen} />
        {write.error && (
          <p className="small negative" role="alert">
            {describeError(write.error).message}
          </p>
        )}
        {write.data && write.data.entries.length > 0 && (
          <ul className="import-report__entries small" role="status">
            {write.data.entries.map(({ promptName, message }, index) => (
              <li key={index}>
                <span className="medium">{promptName}</span>: {message}
              </li>
            ))}
          </ul>
        )}
      </div>
    </Dialog>
  );
}
