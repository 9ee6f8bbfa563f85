import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatPlural } from '../../../components/format.ts';
import { describeError } from '../../../components/state-panels.tsx';
import { useCapability } from '../../../host/host-context.tsx';
import { promptAddress } from '../../../shell/addresses.ts';
import { showToast } from '../../../stores/toasts.ts';
import { ImportReport } from './import-report.tsx';
import { tooMuch } from './read-files.ts';
import { SourceFields } from './source-fields.tsx';
import {
  useImportPrompts,
  usePreviewImport,
  usePreviewOpenedFiles,
  type Preview,
  type SourceDraft,
} from './transfer-queries.ts';
import { useTransfer } from './transfer-state.ts';

function Problem({ message }: { message: string | null }) {
  return (
    message && (
      <p className="small negative" role="alert">
        {message}
      </p>
    )
  );
}

/** Files that were opened with Touchstone, in a file manager for example, are previewed at once. */
function useOpenedFiles(onPreview: (preview: Preview) => void) {
  const canOpen = useCapability('prompt-files');
  const requests = useTransfer(({ importRequests }) => importRequests);
  const { mutate, error, data, reset } = usePreviewOpenedFiles(onPreview);
  useEffect(() => {
    if (canOpen) mutate();
  }, [canOpen, mutate, requests]);
  const problem = error ? describeError(error).message : data?.problems.join(' ');
  return { problem: problem || null, reset };
}

/** First the sources, then the report of what they hold; nothing is stored before that was seen. */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState<SourceDraft>({ files: [], pasted: '', folder: '' });
  const [preview, setPreview] = useState<Preview | null>(null);
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const show = (found: Preview): void => {
    setPreview(found);
    setChosen(new Set(found.sources.flatMap(({ prompts }) => prompts.map(({ index }) => index))));
  };
  const look = usePreviewImport(show);
  const opened = useOpenedFiles(show);
  const bring = useImportPrompts((prompts) => {
    onClose();
    const [first] = prompts;
    if (first) navigate(promptAddress(first.id));
    showToast({ tone: 'neutral', text: `Imported ${formatPlural(prompts.length, 'prompt')}.` });
  });
  const problem = tooMuch(draft.files) ?? (look.error && describeError(look.error).message);
  const isEmpty = draft.files.length === 0 && draft.pasted.trim() === '';
  const keep = (): void => {
    if (preview === null) return;
    bring.mutate({ ...preview.body, chosen: [...chosen].toSorted((one, other) => one - other) });
  };
  const back = (): void => {
    bring.reset();
    opened.reset();
    setPreview(null);
  };
  const footer = preview ? (
    <>
      <Button onClick={back}>Back</Button>
      <Button variant="primary" isBusy={bring.isPending} aria-disabled={chosen.size === 0 || undefined} onClick={keep}>
        Import {formatPlural(chosen.size, 'prompt')}
      </Button>
    </>
  ) : (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button
        variant="primary"
        isBusy={look.isPending}
        aria-disabled={isEmpty || tooMuch(draft.files) !== null || undefined}
        onClick={() => look.mutate(draft)}
      >
        Preview import
      </Button>
    </>
  );
  return (
    <Dialog title="Import prompts" isOpen isWide onClose={onClose} footer={footer}>
      {preview ? (
        <ImportReport sources={preview.sources} chosen={chosen} onChosenChange={setChosen} />
      ) : (
        <SourceFields draft={draft} onChange={setDraft} />
      )}
      <Problem message={opened.problem} />
      <Problem message={preview ? bring.error && describeError(bring.error).message : problem} />
    </Dialog>
  );
}
