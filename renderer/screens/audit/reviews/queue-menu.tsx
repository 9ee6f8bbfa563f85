import {
  CalendarOff,
  CalendarPlus,
  ChevronDown,
  Download,
  FileUp,
  FolderOpen,
  Pencil,
  Scale,
  Trash2,
} from 'lucide-react';
import { type FormEvent, type ReactElement, useState } from 'react';
import { useLocation } from 'wouter';
import type { ReviewQueueSummary } from '../../../../shared/contract/review-queues.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Icon } from '../../../components/icon.tsx';
import { Menu, type MenuItem } from '../../../components/menu.tsx';
import { saveFile } from '../../../components/save-file.ts';
import { describeError, Notice } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useDownloadQueue } from '../../../queries/review-files.ts';
import { useChangeQueue, useDeleteQueue } from '../../../queries/review-queues.ts';
import { reviewQueueAddress, reviewsAddress } from '../../../shell/addresses.ts';
import { deleteWithUndo } from '../../../stores/deletions.ts';
import { MergeReviewsDialog } from './queue-files.tsx';

const maxNameCharacters = 200;

/** A name that every file system takes. */
function queueFileName(name: string): string {
  return `${name.replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, 80)}.touchstone-reviews.jsonl`;
}

interface DialogProps {
  queue: ReviewQueueSummary;
  onClose: () => void;
}

function RenameDialog({ queue, onClose }: DialogProps) {
  const [name, setName] = useState(queue.name);
  const change = useChangeQueue(queue.id);
  const isReady = name.trim() !== '' && !change.isPending;
  function submit(event: FormEvent) {
    event.preventDefault();
    if (isReady) change.mutate({ name: name.trim() }, { onSuccess: onClose });
  }
  return (
    <Dialog title="Rename review queue" isOpen onClose={onClose}>
      <form className="stacked-form" onSubmit={submit}>
        <TextField label="Name" autoFocus maxLength={maxNameCharacters} value={name} onValueChange={setName} />
        {change.error && <Notice tone="negative">{describeError(change.error).message}</Notice>}
        <div className="row">
          <Button type="submit" variant="primary" isBusy={change.isPending} aria-disabled={!isReady}>
            Rename
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Only the host that made a shared queue names it, and a copy from a file has a name of its own. */
const canRename = ({ isShared, isImported }: ReviewQueueSummary) => !(isShared && isImported);

/** For queues of the newest of each day. */
function useDailyItems({ id, plan, isImported, isOpen }: ReviewQueueSummary): MenuItem[] {
  const change = useChangeQueue(id);
  if (plan.kind !== 'newest' || isImported) return [];
  return [
    isOpen
      ? { label: 'Stop new items', icon: CalendarOff, onSelect: () => change.mutate({ isOpen: false }) }
      : { label: 'Take new items', icon: CalendarPlus, onSelect: () => change.mutate({ isOpen: true }) },
  ];
}

interface QueueMenuProps {
  queue: ReviewQueueSummary;
  /** The screen on which it is. */
  from: 'list' | 'queue' | 'agreement';
  align?: 'start' | 'end';
  /** The button that opens it. */
  children: ReactElement;
}

/** Everything that can be done with a queue as a whole. */
export function QueueMenu({ queue, from, align = 'start', children }: QueueMenuProps) {
  const { id, name, isImported, isShared } = queue;
  const [, navigate] = useLocation();
  const remove = useDeleteQueue();
  const download = useDownloadQueue();
  const daily = useDailyItems(queue);
  const [opened, setOpened] = useState<'rename' | 'merge' | null>(null);
  const close = () => setOpened(null);
  const save = () =>
    download.mutate(id, {
      onSuccess: async (file) => saveFile(queueFileName(name), new Uint8Array(await file.arrayBuffer())),
    });
  const files: MenuItem[] = [
    { label: isImported ? 'Download the reviews to send back' : 'Download queue file', icon: Download, onSelect: save },
    ...(isImported ? [] : [{ label: 'Merge reviews from a file', icon: FileUp, onSelect: () => setOpened('merge') }]),
  ];
  function removeQueue() {
    if (from !== 'list') navigate(reviewsAddress);
    deleteWithUndo({
      id,
      text: `Deleted "${name}" with its reviews. The feedback that it gave stays.`,
      carryOut: () => remove.mutateAsync(id),
    });
  }
  const groups: MenuItem[][] = [
    [
      ...(from === 'queue'
        ? []
        : [{ label: 'Review', icon: FolderOpen, onSelect: () => navigate(reviewQueueAddress(id)) }]),
      ...(from === 'agreement'
        ? []
        : [{ label: 'Agreement', icon: Scale, onSelect: () => navigate(reviewQueueAddress(id, 'agreement')) }]),
    ],
    [...(canRename(queue) ? [{ label: 'Rename', icon: Pencil, onSelect: () => setOpened('rename') }] : []), ...daily],
    isShared ? [] : files,
    [{ label: 'Delete', icon: Trash2, isNegative: true, onSelect: removeQueue }],
  ];
  return (
    <>
      <Menu align={align} groups={groups.filter((group) => group.length > 0)}>
        {children}
      </Menu>
      {opened === 'rename' && <RenameDialog queue={queue} onClose={close} />}
      {opened === 'merge' && <MergeReviewsDialog queue={queue} onClose={close} />}
    </>
  );
}

/** The name of the open queue, which opens its menu. */
export function QueueTitle({ queue, from }: Pick<QueueMenuProps, 'queue' | 'from'>) {
  return (
    <QueueMenu queue={queue} from={from}>
      <button type="button" className="row prompt-name" aria-label={`${queue.name}, actions`}>
        <h2 className="strong truncate">{queue.name}</h2>
        <Icon icon={ChevronDown} size="small" />
      </button>
    </QueueMenu>
  );
}
