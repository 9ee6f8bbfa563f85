import { X } from 'lucide-react';
import { formatBytes, formatPart, formatPlural } from '../../components/format.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Progress } from '../../components/badges.tsx';
import { dismissRejected, dismissUpload, type Upload, useUploads } from '../../stores/knowledge.ts';

/** More would hide the sources; the rest is counted. */
const maxShown = 6;

function Row({ upload }: { upload: Upload }) {
  const { id, name, bytes, fraction, state, reason } = upload;
  return (
    <li className="knowledge__upload">
      <span className="row">
        <span className="small truncate grow">{name}</span>
        <span className="caption tertiary nowrap numbers">
          {state === 'sending' ? formatPart(fraction * bytes, bytes) : formatBytes(bytes)}
        </span>
        <IconButton
          icon={X}
          label={state === 'rejected' ? `Dismiss ${name}` : `Cancel upload of ${name}`}
          size="small"
          onClick={() => dismissUpload(id)}
        />
      </span>
      {state === 'rejected' ? (
        <p className="caption negative">{reason}</p>
      ) : (
        <Progress label={`Uploading ${name}`} fraction={fraction} />
      )}
    </li>
  );
}

/** Files that are being uploaded, and rejected ones with the reason. */
export function UploadList({ dataspaceId }: { dataspaceId: string }) {
  const uploads = useUploads((state) => state.uploads);
  const here = uploads.filter((upload) => upload.dataspaceId === dataspaceId);
  if (here.length === 0) return null;
  const rejected = here.filter(({ state }) => state === 'rejected');
  const onTheirWay = here.filter(({ state }) => state !== 'rejected');
  return (
    <div className="knowledge__uploads line-bottom" role="group" aria-label="Uploads">
      <ul>
        {[...onTheirWay, ...rejected].slice(0, maxShown).map((upload) => (
          <Row key={upload.id} upload={upload} />
        ))}
      </ul>
      {here.length > maxShown && (
        <p className="caption tertiary">and {formatPlural(here.length - maxShown, 'more file')}</p>
      )}
      <span className={rejected.length > 1 ? 'row' : 'visually-hidden'}>
        <span className="caption tertiary grow" role="status">
          {rejected.length > 0 && `${formatPlural(rejected.length, 'file')} rejected`}
        </span>
        {rejected.length > 1 && (
          <Button size="small" variant="quiet" onClick={() => dismissRejected(dataspaceId)}>
            Dismiss all
          </Button>
        )}
      </span>
    </div>
  );
}
