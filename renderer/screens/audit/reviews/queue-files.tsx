import { useLocation } from 'wouter';
import { maxDiscussionCharacters } from '../../../../shared/contract/review-items.ts';
import type { ReviewQueueSummary } from '../../../../shared/contract/review-queues.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { DropZone } from '../../../components/files/drop-zone.tsx';
import { formatPlural, formatWhole } from '../../../components/format.ts';
import { describeError, Notice } from '../../../components/state-panels.tsx';
import { useImportQueue, useMergeReviews } from '../../../queries/review-files.ts';
import { reviewQueueAddress } from '../../../shell/addresses.ts';
import { showToast } from '../../../stores/toasts.ts';

interface FileDialogProps {
  title: string;
  explanation: string;
  isBusy: boolean;
  error: unknown;
  onFile: (file: File) => void;
  onClose: () => void;
}

function FileDialog({ title, explanation, isBusy, error, onFile, onClose }: FileDialogProps) {
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <div className="stacked-form">
        <p className="small secondary">{explanation}</p>
        <DropZone
          label="Queue file"
          text={isBusy ? 'Reading the file' : 'or drop it here'}
          onFiles={([first]) => first && !isBusy && onFile(first.file)}
        />
        {error !== null && <Notice tone="negative">{describeError(error).message}</Notice>}
      </div>
    </Dialog>
  );
}

/** Takes a queue that a colleague sent, to review it here. */
export function ImportQueueDialog({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const reading = useImportQueue();
  return (
    <FileDialog
      title="Import a queue file"
      explanation="Review the items of another Touchstone here, without a server. Download the file again when you are done and send it back: it has the reviews then."
      isBusy={reading.isPending}
      error={reading.error}
      onFile={(file) => reading.mutate(file, { onSuccess: ({ id }) => navigate(reviewQueueAddress(id)) })}
      onClose={onClose}
    />
  );
}

/** Adds the reviews that a colleague sent back. */
export function MergeReviewsDialog({ queue, onClose }: { queue: ReviewQueueSummary; onClose: () => void }) {
  const merging = useMergeReviews(queue.id);
  return (
    <FileDialog
      title={`Merge reviews into ${queue.name}`}
      explanation="Reviews that are here already are skipped, so a file can be merged twice."
      isBusy={merging.isPending}
      error={merging.error}
      onFile={(file) =>
        merging.mutate(file, {
          onSuccess: ({ added, known, comments, commentsLeftOut }) => {
            onClose();
            const rest = known === 0 ? '' : ` ${formatPlural(known, 'review was', 'reviews were')} here already.`;
            const discussed = comments === 0 ? '' : ` and ${formatPlural(comments, 'comment')}`;
            const leftOut =
              commentsLeftOut === 0
                ? ''
                : ` Left out ${formatPlural(commentsLeftOut, 'comment')}: the discussion of an item can have ${formatWhole(maxDiscussionCharacters)} characters.`;
            showToast({
              tone: 'neutral',
              text: `Added ${formatPlural(added, 'review')}${discussed}.${rest}${leftOut}`,
            });
          },
        })
      }
      onClose={onClose}
    />
  );
}
