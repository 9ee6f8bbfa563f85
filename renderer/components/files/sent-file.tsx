import { Download } from 'lucide-react';
import { useMutation } from '@tanstack/react-query';
import { readFile } from '../../../shared/contract/files.ts';
import type { FilePart } from '../../../shared/contract/messages.ts';
import { useHost } from '../../host/host-context.tsx';
import { useFiles } from '../../queries/files.ts';
import { IconButton } from '../button.tsx';
import { saveFile } from '../save-file.ts';
import { describeFile, FileThumbnail } from './file-summary.tsx';

/** A file that a run sent. Its content may have been removed with the run's texts. */
export function SentFile({ file }: { file: FilePart }) {
  const { client } = useHost();
  const { fileId, mediaType, name, bytes } = file;
  const stored = useFiles([fileId])[fileId];
  const save = useMutation({
    mutationFn: async () => {
      const content = await client.download(readFile, { parameters: { id: fileId } });
      saveFile(name, new Uint8Array(await content.arrayBuffer()));
    },
  });
  return (
    <div className="sent-file" role="group" aria-label={name}>
      <FileThumbnail id={stored ? fileId : ''} name={name} mediaType={mediaType} />
      <span className="grow file-summary">
        <span className="truncate">{name}</span>
        <span className="caption tertiary">{describeFile(stored ?? { mediaType, bytes })}</span>
      </span>
      {stored === null ? (
        <span className="caption tertiary">Not stored any more</span>
      ) : (
        <IconButton
          icon={Download}
          size="small"
          label={`Save ${name}`}
          isBusy={save.isPending}
          onClick={() => save.mutate()}
        />
      )}
    </div>
  );
}
