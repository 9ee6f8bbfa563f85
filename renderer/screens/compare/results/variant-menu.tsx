import { BookOpenText, Ellipsis, Flag, RotateCcw, Square, SquareTerminal, Tag } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import { IconButton } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { Menu } from '../../../components/menu.tsx';
import { describeError, Notice } from '../../../components/state-panels.tsx';
import { useSetLabel } from '../../../queries/prompt-details.ts';
import { usePrompt, usePromptVersion } from '../../../queries/prompts.ts';
import { promptAddress, versionDraftAddress } from '../../../shell/addresses.ts';
import { showToast } from '../../../stores/toasts.ts';
import { useRunCommands } from './results-header.tsx';

type Variant = Comparison['variants'][number];

/** The label of the version that API clients use. */
const label = 'production';

interface StoredVariant {
  promptId: string;
  versionId: string;
  versionNumber: number | null;
}

/** Null for a variant whose prompt isn't in the library. */
function storedVariantOf({ promptId, promptVersionId, versionNumber }: Variant): StoredVariant | null {
  if (promptId === null || promptVersionId === null) return null;
  return { promptId, versionId: promptVersionId, versionNumber };
}

interface ProductionDialogProps extends StoredVariant {
  letter: string;
  isOpen: boolean;
  onClose: () => void;
}

/** Moves the label `production` to the version of a variant, and offers Undo. */
function ProductionDialog({ promptId, versionId, versionNumber, letter, isOpen, onClose }: ProductionDialogProps) {
  const prompt = usePrompt(isOpen ? promptId : null);
  const set = useSetLabel();
  const now = prompt.data?.labels.find((one) => one.label === label);
  const previous = usePromptVersion(isOpen ? promptId : null, now?.promptVersionId ?? null);
  const name = `version ${versionNumber}`;
  const confirm = () =>
    set.mutate(
      // The label is moved from the version that the dialog shows: someone else may have moved it meanwhile.
      { promptId, label, promptVersionId: versionId, previousVersionId: now?.promptVersionId ?? null },
      {
        onSuccess: () => {
          onClose();
          const undo =
            now &&
            (() => set.mutate({ promptId, label, promptVersionId: now.promptVersionId, previousVersionId: versionId }));
          showToast({
            tone: 'neutral',
            text: `"${label}" is now ${name} of "${prompt.data?.name}".`,
            ...(undo && { action: { label: 'Undo', run: undo } }),
          });
        },
      },
    );
  const isThere = now?.promptVersionId === versionId;
  return (
    <ConfirmDialog
      title={`Make ${letter} production?`}
      isOpen={isOpen}
      onClose={onClose}
      action={`Make ${letter} production`}
      isNegative={false}
      isBusy={set.isPending || prompt.isPending}
      onConfirm={isThere ? onClose : confirm}
    >
      {prompt.isError && <Notice tone="negative">{describeError(prompt.error).message}</Notice>}
      {prompt.data && (
        <p>
          {isThere
            ? `The label "${label}" of "${prompt.data.name}" is already at ${name}.`
            : now
              ? `The label "${label}" of "${prompt.data.name}" moves from ${now.promptVersionId === previous.data?.id ? `version ${previous.data.number}` : 'another version'} to ${name}.`
              : `The label "${label}" of "${prompt.data.name}" is set to ${name}.`}{' '}
          Calls that use the label run this version at once.
        </p>
      )}
      {set.isError && <Notice tone="negative">{describeError(set.error).message}</Notice>}
    </ConfirmDialog>
  );
}

interface VariantMenuProps {
  comparison: Comparison;
  variant: Variant;
  letter: string;
  isBaseline: boolean;
  onBaseline: () => void;
}

/** What a person can do with a variant. */
export function VariantMenu({ comparison, variant, letter, isBaseline, onBaseline }: VariantMenuProps) {
  const [, navigate] = useLocation();
  const commands = useRunCommands(comparison);
  const [isOpen, setOpen] = useState(false);
  const { model, name } = variant;
  const stored = storedVariantOf(variant);
  const hasFailed = comparison.cells.failed + comparison.cells.skipped > 0;
  return (
    <>
      <Menu
        align="end"
        groups={[
          [
            {
              label: 'Compare with this one',
              icon: Flag,
              isDisabled: isBaseline,
              onSelect: onBaseline,
              ...(isBaseline && { detail: 'Baseline' }),
            },
            ...(stored ? [{ label: `Make ${letter} production`, icon: Tag, onSelect: () => setOpen(true) }] : []),
          ],
          [
            {
              label: 'Stop this variant',
              icon: Square,
              isDisabled: comparison.state !== 'Running',
              onSelect: () => commands.stop({ variant: name }),
            },
            {
              label: 'Retry failed runs',
              icon: RotateCcw,
              isDisabled: !hasFailed,
              onSelect: () => commands.retry({ variant: name }),
            },
          ],
          ...(stored
            ? [
                [
                  {
                    label: 'Open in playground',
                    icon: SquareTerminal,
                    onSelect: () => navigate(versionDraftAddress(stored.promptId, stored.versionId, model)),
                  },
                  {
                    label: 'Open prompt',
                    icon: BookOpenText,
                    onSelect: () => navigate(promptAddress(stored.promptId, stored.versionId)),
                  },
                ],
              ]
            : []),
        ]}
      >
        <IconButton icon={Ellipsis} label={`Variant ${letter}`} size="small" />
      </Menu>
      {stored && <ProductionDialog {...stored} letter={letter} isOpen={isOpen} onClose={() => setOpen(false)} />}
    </>
  );
}
