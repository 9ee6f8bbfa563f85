import { FileUp, Minimize2, X } from 'lucide-react';
import { useState } from 'react';
import {
  type FileForm,
  type PageResolution,
  pageResolutions,
  type StoredFile,
} from '../../../../shared/contract/files.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import { fileKindNames, fileKindOf } from '../../../../shared/file-kinds.ts';
import { choosePages } from '../../../../shared/page-range.ts';
import { IconButton } from '../../../components/button.tsx';
import { Segmented } from '../../../components/choices.tsx';
import { describeFile, FileThumbnail } from '../../../components/files/file-summary.tsx';
import { formatPlural } from '../../../components/format.ts';
import { Select } from '../../../components/select.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { estimateUsedTokens, sentKinds, type SentForm } from '../../../drafts/file-values.ts';
import { servingModel } from '../../../components/remedies.ts';
import { canBeSmaller, maxUsefulSide } from './smaller-image.ts';
import { SmallerVersion } from './smaller-version.tsx';

/** Images that were stored without their metadata since the window opened. A program may have kept that of older ones. */
const cleanedIds = new Set<string>();

/** The host removes the metadata of the images that the window sends. */
export function rememberCleaned({ id, mediaType }: StoredFile): void {
  if (canBeSmaller(mediaType)) cleanedIds.add(id);
}

/** Why the model doesn't support the file; null if it does, as far as is known. */
function modelProblem({ mediaType }: StoredFile, form: FileForm, model: Model | null): string | null {
  const kind = sentKinds[form] ?? fileKindOf(mediaType);
  if (model === null || model.fileKinds.includes(kind)) return null;
  const advice = kind === 'pdf' && model.fileKinds.includes('image') ? '. Send its text or its pages' : '';
  return `${model.title} doesn't support ${fileKindNames[kind]}${advice}`;
}

const formOptions: readonly { value: FileForm; label: string }[] = [
  { value: 'file', label: 'File' },
  { value: 'text', label: 'Text' },
  { value: 'pages', label: 'Pages' },
];

const resolutionNames: Readonly<Record<PageResolution, string>> = { low: 'Low', medium: 'Medium', high: 'High' };

interface PageOptionsProps {
  file: StoredFile;
  sent: SentForm;
  onChange: (sent: SentForm) => void;
}

/** Which pages of a PDF are sent as images, and how sharp. */
function PageOptions({ file, sent, onChange }: PageOptionsProps) {
  const count = file.pages ?? 1;
  const chosen = choosePages(sent.pages, count);
  const problem = 'issue' in chosen ? chosen.issue : null;
  return (
    <div className="file-field__pages">
      <TextField
        label="Pages"
        size="small"
        placeholder={count === 1 ? '1' : `1-${count}`}
        value={sent.pages}
        error={problem && `${problem.charAt(0).toUpperCase()}${problem.slice(1)}`}
        onValueChange={(pages) => onChange({ ...sent, pages })}
      />
      <div className="labelled">
        <span className="label" aria-hidden="true">
          Resolution
        </span>
        <Select
          label="Resolution"
          size="small"
          value={sent.resolution}
          options={pageResolutions.map((value) => ({ value, label: resolutionNames[value] }))}
          onValueChange={(resolution) => onChange({ ...sent, resolution })}
        />
      </div>
    </div>
  );
}

interface StoredProps {
  file: StoredFile;
  sent: SentForm;
  model: Model | null;
  onReplace: () => void;
  onRemove: () => void;
  onSmaller: (file: File) => void;
  onForm: (sent: SentForm) => void;
}

/** A file of a variable, with what can be done with it. */
export function StoredFileView({ file, sent, model, onReplace, onRemove, onSmaller, onForm }: StoredProps) {
  const [isShrinking, setShrinking] = useState(false);
  const system = model && servingModel({ ...model, model: model.name }).aiSystem;
  const tokens = estimateUsedTokens({ file, ...sent }, system);
  const problem = modelProblem(file, sent.form, model);
  const isLarge = canBeSmaller(file.mediaType) && Math.max(file.width ?? 0, file.height ?? 0) > maxUsefulSide;
  return (
    <>
      <div className="file-field__file" role="group" aria-label={file.name}>
        <FileThumbnail {...file} />
        <span className="grow file-summary">
          <span className="truncate">{file.name}</span>
          <span className="caption tertiary">
            {describeFile(file)}, about {formatPlural(tokens, 'token')}
          </span>
          {cleanedIds.has(file.id) && <span className="caption tertiary">Location data removed</span>}
        </span>
        {file.mediaType === 'application/pdf' && (
          <Segmented
            label={`Send ${file.name} as`}
            value={sent.form}
            onValueChange={(form) => onForm({ ...sent, form })}
            options={formOptions}
          />
        )}
        {isLarge && (
          <IconButton
            icon={Minimize2}
            size="small"
            label={`Smaller version of ${file.name}`}
            aria-expanded={isShrinking}
            onClick={() => setShrinking(!isShrinking)}
          />
        )}
        <IconButton icon={FileUp} size="small" label={`Replace ${file.name}`} onClick={onReplace} />
        <IconButton icon={X} size="small" label={`Remove ${file.name}`} onClick={onRemove} />
      </div>
      {sent.form === 'pages' && <PageOptions file={file} sent={sent} onChange={onForm} />}
      {problem !== null && <p className="caption negative">{problem}</p>}
      {isShrinking && (
        <SmallerVersion
          file={file}
          onUse={(smaller) => {
            setShrinking(false);
            onSmaller(smaller);
          }}
          onClose={() => setShrinking(false)}
        />
      )}
    </>
  );
}

/** In place of a file that the host removed. */
export function MissingFile({ onRemove }: { onRemove: () => void }) {
  return (
    <div className="file-field__file">
      <span className="grow caption negative" role="alert">
        This file was removed because no run used it. Add it again.
      </span>
      <IconButton icon={X} size="small" label="Remove missing file" onClick={onRemove} />
    </div>
  );
}
