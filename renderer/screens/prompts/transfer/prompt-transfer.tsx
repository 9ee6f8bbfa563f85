import { FileInput, FileOutput } from 'lucide-react';
import type { Prompt } from '../../../../shared/contract/prompts.ts';
import { useActions } from '../../../stores/actions.ts';
import { ExportDialog } from './export-dialog.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { closeTransfer, openExport, openImport, useTransfer } from './transfer-state.ts';
import './transfer.css';

/** The dialogs of import and export, and their commands. `prompts` are those that the list shows. */
export function PromptTransfer({ prompts }: { prompts: readonly Prompt[] }) {
  const { open } = useTransfer();
  useActions('prompt-transfer', [
    { id: 'prompts.import', title: 'Import prompts', group: 'Prompts', icon: FileInput, run: openImport },
    {
      id: 'prompts.export',
      title: 'Export prompts',
      group: 'Prompts',
      icon: FileOutput,
      isEnabled: prompts.length > 0,
      run: openExport,
    },
  ]);
  if (open === 'import') return <ImportDialog onClose={closeTransfer} />;
  return open === 'export' ? <ExportDialog prompts={prompts} onClose={closeTransfer} /> : null;
}
