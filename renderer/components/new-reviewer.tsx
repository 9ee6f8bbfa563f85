import { useState } from 'react';
import { useActAsReviewer, useCreateReviewer } from '../queries/reviewers.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { describeError, Notice } from './state-panels.tsx';
import { TextField } from './text-field.tsx';

interface PinFieldProps {
  label: string;
  pin: string;
  onPin: (pin: string) => void;
  hint: string;
  isDisabled?: boolean;
}

export function PinField({ label, pin, onPin, hint, isDisabled = false }: PinFieldProps) {
  return (
    <TextField
      label={label}
      type="password"
      inputMode="numeric"
      autoComplete="off"
      maxLength={12}
      disabled={isDisabled}
      value={pin}
      onValueChange={(text) => onPin(text.replaceAll(/\D/g, ''))}
      hint={hint}
    />
  );
}

/** Adds a person who reviews. With `isActing`, this window reviews under the name from then on. */
export function NewReviewerDialog({ isActing = false, onClose }: { isActing?: boolean; onClose: () => void }) {
  const [name, setName] = useState('');
  const [pin, setPin] = useState('');
  const create = useCreateReviewer();
  const act = useActAsReviewer();
  const isReady = name.trim() !== '' && (pin === '' || pin.length >= 4);
  const error = create.error ?? act.error;
  // It stays when only the second request fails. Otherwise the next try would add the person again.
  const isAdded = create.data !== undefined;
  async function add() {
    const { id } = create.data ?? (await create.mutateAsync({ name: name.trim(), ...(pin !== '' && { pin }) }));
    if (isActing) await act.mutateAsync({ id, ...(pin !== '' && { pin }) });
    onClose();
  }
  return (
    <Dialog title="Add a reviewer" isOpen onClose={onClose}>
      <form
        className="stacked-form"
        onSubmit={(event) => {
          event.preventDefault();
          // A failure is shown below.
          if (isReady && !create.isPending && !act.isPending) add().catch(() => {});
        }}
      >
        <TextField
          label="Name"
          autoFocus
          maxLength={100}
          disabled={isAdded}
          value={name}
          onValueChange={setName}
          hint={isAdded && error ? 'The person is added.' : undefined}
        />
        <PinField
          label="PIN (optional)"
          pin={pin}
          onPin={setPin}
          hint="4 to 12 digits. Asked before somebody reviews under this name."
          isDisabled={isAdded}
        />
        {error && <Notice tone="negative">{describeError(error).message}</Notice>}
        <div className="row">
          <Button type="submit" variant="primary" isBusy={create.isPending || act.isPending} aria-disabled={!isReady}>
            {isAdded ? 'Review as this person' : isActing ? 'Add and review as this person' : 'Add reviewer'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
