import type { Batch } from '../../../shared/contract/moderation-window.ts';
import { useActions } from '../../stores/actions.ts';
import type { ModerationAddress } from './moderation-address.ts';
import type { Thresholds } from './use-thresholds.ts';

export interface ModerationActions {
  address: ModerationAddress;
  batch: Batch | undefined;
  limits: Thresholds;
  check: () => void;
  chooseFile: () => void;
  openPaste: () => void;
  openGuard: () => void;
}

/** The commands and keys of the screen. */
export function useModerationActions(actions: ModerationActions): void {
  const { address, batch, limits, check, chooseFile, openPaste, openGuard } = actions;
  const move = (by: number) => {
    const next = (address.index ?? 0) + by;
    if (batch && next >= 0 && next < batch.total) address.openBatch(batch.id, next);
  };
  const group = 'Moderation';
  useActions('moderation', [
    { id: 'moderation.check', title: 'Check text', group, keys: 'Mod+Enter', run: check },
    {
      id: 'moderation.file',
      title: 'Import file to check',
      group,
      keywords: ['CSV', 'JSONL', 'labelled'],
      run: chooseFile,
    },
    { id: 'moderation.paste', title: 'Paste lines to check', group, run: openPaste },
    { id: 'moderation.guard', title: 'Guard for prompts and answers', group, run: openGuard },
    { id: 'moderation.reset', title: 'Reset thresholds', group, isEnabled: limits.isMoved, run: limits.reset },
    { id: 'moderation.one', title: 'Single text', group, isEnabled: batch !== undefined, run: address.openText },
    { id: 'moderation.next', title: 'Next text', group, keys: 'J', isEnabled: batch !== undefined, run: () => move(1) },
    {
      id: 'moderation.back',
      title: 'Previous text',
      group,
      keys: 'K',
      isEnabled: batch !== undefined,
      run: () => move(-1),
    },
  ]);
}
