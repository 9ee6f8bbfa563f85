import { ChevronDown, Pencil, Trash2, User, UserPlus } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { Reviewer } from '../../../../shared/contract/reviewers.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Icon } from '../../../components/icon.tsx';
import { Menu } from '../../../components/menu.tsx';
import { NewReviewerDialog, PinField } from '../../../components/new-reviewer.tsx';
import { describeError, Notice } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useActAsReviewer, useChangeReviewer, useDeleteReviewer, useReviewers } from '../../../queries/reviewers.ts';
import { useActingReviewer } from '../../../stores/acting-reviewer.ts';
import { useActions } from '../../../stores/actions.ts';
import { deleteWithUndo, useDeletions } from '../../../stores/deletions.ts';

/** Asks for the PIN of a reviewer who has one. */
function PinDialog({ reviewer, onClose }: { reviewer: Reviewer; onClose: () => void }) {
  const [pin, setPin] = useState('');
  const act = useActAsReviewer();
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!act.isPending) act.mutate({ id: reviewer.id, pin }, { onSuccess: onClose });
  }
  return (
    <Dialog title={`Review as ${reviewer.name}`} isOpen onClose={onClose}>
      <form className="stacked-form" onSubmit={submit}>
        <PinField label="PIN" pin={pin} onPin={setPin} hint="4 to 12 digits" />
        {act.error && <Notice tone="negative">{describeError(act.error).message}</Notice>}
        <div className="row">
          <Button type="submit" variant="primary" isBusy={act.isPending} aria-disabled={pin.length < 4}>
            Review as {reviewer.name}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Another name, or another PIN, of who reviews at this window. */
function EditReviewerDialog({ reviewer, onClose }: { reviewer: Reviewer; onClose: () => void }) {
  const [name, setName] = useState(reviewer.name);
  const [pin, setPin] = useState('');
  const change = useChangeReviewer();
  const isReady = name.trim() !== '' && (pin === '' || pin.length >= 4);
  const save = (newPin: string | null | undefined) => {
    if (!isReady || change.isPending) return;
    const body = { name: name.trim(), ...(newPin !== undefined && { pin: newPin }) };
    change.mutate({ id: reviewer.id, body }, { onSuccess: onClose });
  };
  return (
    <Dialog title={`Edit ${reviewer.name}`} isOpen onClose={onClose}>
      <form
        className="stacked-form"
        onSubmit={(event) => {
          event.preventDefault();
          save(pin === '' ? undefined : pin);
        }}
      >
        <TextField label="Name" autoFocus maxLength={100} value={name} onValueChange={setName} />
        <PinField
          label={reviewer.hasPin ? 'New PIN' : 'PIN'}
          pin={pin}
          onPin={setPin}
          hint={`4 to 12 digits. ${reviewer.hasPin ? 'Leave it empty to keep the PIN.' : 'Asked before somebody reviews under this name.'}`}
        />
        {change.error && <Notice tone="negative">{describeError(change.error).message}</Notice>}
        <div className="row">
          <Button type="submit" variant="primary" isBusy={change.isPending} aria-disabled={!isReady}>
            Save
          </Button>
          {reviewer.hasPin && (
            <Button aria-disabled={!isReady} onClick={() => save(null)}>
              Remove PIN
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

function useRemoveReviewer(): (reviewer: Reviewer) => void {
  const token = useActingReviewer((state) => state.token);
  const remove = useDeleteReviewer();
  return ({ id, name }) => {
    useActingReviewer.setState({ token: null });
    deleteWithUndo({
      id,
      text: `Removed "${name}". The reviews stay.`,
      carryOut: () => remove.mutateAsync({ id, token }),
      onUndo: () => useActingReviewer.setState({ token }),
    });
  };
}

/** Who reviews at this window, and who else could. */
export function ReviewerMenu() {
  const reviewers = useReviewers();
  const token = useActingReviewer((state) => state.token);
  const act = useActAsReviewer();
  const removeReviewer = useRemoveReviewer();
  const deleted = useDeletions(({ ids }) => ids);
  const [requested, setRequested] = useState<Reviewer | null>(null);
  const [edited, setEdited] = useState<Reviewer | null>(null);
  const [isAdding, setAdding] = useState(false);
  useActions('review-reviewer', [
    { id: 'review.reviewer', title: 'Add a reviewer', group: 'Review', icon: UserPlus, run: () => setAdding(true) },
  ]);
  const people = (reviewers.data ?? []).filter(({ id, apiKeyId }) => apiKeyId === null && !deleted.has(id));
  const you = people.find(({ isYou }) => isYou);
  function choose(reviewer: Reviewer) {
    if (reviewer.hasPin) setRequested(reviewer);
    else act.mutate({ id: reviewer.id });
  }
  return (
    <>
      <Menu
        align="end"
        groups={[
          [
            ...people.map((reviewer) => ({
              label: reviewer.name,
              isChecked: reviewer.isYou,
              onSelect: () => choose(reviewer),
              ...(reviewer.hasPin && { detail: 'PIN' }),
            })),
            ...(token === null
              ? []
              : [{ label: 'No name', isChecked: false, onSelect: () => useActingReviewer.setState({ token: null }) }]),
          ],
          [
            { label: 'Add a reviewer', icon: UserPlus, onSelect: () => setAdding(true) },
            ...(you && token !== null
              ? [
                  { label: `Edit ${you.name}`, icon: Pencil, onSelect: () => setEdited(you) },
                  { label: `Remove ${you.name}`, icon: Trash2, isNegative: true, onSelect: () => removeReviewer(you) },
                ]
              : []),
          ],
        ]}
      >
        <Button aria-label={`Reviewer: ${you?.name ?? 'This window'}`}>
          <Icon icon={User} size="small" />
          <span className="truncate review__name">{you?.name ?? 'This window'}</span>
          <Icon icon={ChevronDown} size="small" />
        </Button>
      </Menu>
      {requested && <PinDialog reviewer={requested} onClose={() => setRequested(null)} />}
      {edited && <EditReviewerDialog reviewer={edited} onClose={() => setEdited(null)} />}
      {isAdding && <NewReviewerDialog isActing onClose={() => setAdding(false)} />}
    </>
  );
}
