import { type FormEvent, useState } from 'react';
import { AppError } from '../../shared/app-error.ts';
import type { Settings } from '../../shared/contract/settings.ts';
import { useUpdateSettings } from '../queries/settings.ts';
import { Button } from './button.tsx';
import { describeError } from './state-panels.tsx';
import { TextField } from './text-field.tsx';

/** What the host says about a pattern that RE2 can't compile. */
function patternIssue(error: unknown): string | null {
  if (!(error instanceof AppError)) return error === null ? null : describeError(error).message;
  const [detail] = error.details;
  return detail ? `${detail.issue.charAt(0).toUpperCase()}${detail.issue.slice(1)}` : error.message;
}

interface NewPatternProps {
  recorder: Settings['recorder'];
  className: string;
  /** Called when the pattern is saved. */
  onAdded?: () => void;
}

/** Adds a pattern of redaction when the host has accepted it. */
export function NewPattern({ recorder, className, onAdded }: NewPatternProps) {
  const update = useUpdateSettings({ isFailureShown: true });
  const [name, setName] = useState('');
  const [pattern, setPattern] = useState('');
  const isReady = name.trim() !== '' && pattern !== '';
  const add = (event: FormEvent): void => {
    event.preventDefault();
    if (!isReady) return;
    const rule = { kind: 'pattern' as const, name: name.trim(), pattern };
    update.mutate(
      { recorder: { ...recorder, redaction: [...recorder.redaction, rule] } },
      {
        onSuccess: () => {
          setName('');
          setPattern('');
          onAdded?.();
        },
      },
    );
  };
  return (
    <form className={className} onSubmit={add}>
      <TextField label="Name" size="small" maxLength={100} value={name} onValueChange={setName} />
      <TextField
        label="Regular expression"
        size="small"
        isMono
        maxLength={1000}
        placeholder="NW-\d{5}"
        value={pattern}
        onValueChange={(text) => {
          setPattern(text);
          update.reset();
        }}
        error={patternIssue(update.error)}
      />
      <Button type="submit" size="small" isBusy={update.isPending} aria-disabled={!isReady || undefined}>
        Add pattern
      </Button>
    </form>
  );
}
