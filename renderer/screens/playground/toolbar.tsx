import { ChevronsUpDown, CircleX, History, Save, Settings2 } from 'lucide-react';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { IconButton } from '../../components/icon-button.tsx';
import { keyShortcut } from '../../components/key-caps.tsx';
import { Popover } from '../../components/popover.tsx';
import { DraftMenu } from './draft-menu.tsx';
import type { PlaygroundState } from './playground.tsx';
import { RunButton } from './run-button.tsx';
import { VersionMark } from './save/version-mark.tsx';
import { Parameters, RunHistory } from './side-panel.tsx';

/** Takes the hand to what stands in the way of a run. */
function goToBlocker({ runner, focusAt }: PlaygroundState): void {
  const place = runner.blocker?.place;
  if (place?.kind === 'prompt') focusAt.current?.(place.offset);
  else if (place) {
    const label =
      place.kind === 'variable'
        ? `.variable__name[title="${CSS.escape(place.name)}"]`
        : `[aria-label^="${CSS.escape(place.name)}"]`;
    const element = document.querySelector<HTMLElement>(label);
    (element instanceof HTMLLabelElement ? element.control : element)?.focus();
  }
}

/** In a narrow window the side panel's parts are buttons. */
function NarrowButtons({ state }: { state: PlaygroundState }) {
  return (
    <>
      <Button className="toolbar__model" aria-haspopup="dialog" onClick={() => state.setPickerOpen(true)}>
        <span className="truncate">{state.draft.model}</span>
        <Icon icon={ChevronsUpDown} size="small" />
      </Button>
      <Popover
        label="Parameters"
        align="end"
        className="play__popover"
        trigger={<IconButton variant="default" icon={Settings2} label="Parameters" />}
      >
        <Parameters state={state} />
      </Popover>
      <Popover
        label="History"
        align="end"
        className="play__popover play__popover--history"
        trigger={<IconButton variant="default" icon={History} label="History" />}
      >
        <RunHistory state={state} />
      </Popover>
    </>
  );
}

/** The prompt's name and its menu, and the one button that matters. */
export function Toolbar({ state, isWide }: { state: PlaygroundState; isWide: boolean }) {
  const { draft, runner, isRenaming, setRenaming, openDraft, mustWait } = state;
  return (
    <div className="toolbar" role="toolbar" aria-label="Prompt">
      <DraftMenu draft={draft} isRenaming={isRenaming} onRenamingChange={setRenaming} onOpen={openDraft} />
      <VersionMark draft={draft} />
      <Button
        icon={Save}
        size="small"
        variant="quiet"
        aria-label="Save to library"
        aria-keyshortcuts={keyShortcut('Mod+S')}
        onClick={() => state.setSaving(true)}
      >
        Save
      </Button>
      <span className="grow" />
      {runner.blocker && (
        <button
          type="button"
          className="row small negative truncate toolbar__blocker"
          onClick={() => goToBlocker(state)}
        >
          <Icon icon={CircleX} size="small" />
          <span className="truncate" role="alert">
            {runner.blocker.message}
          </span>
        </button>
      )}
      {!isWide && <NarrowButtons state={state} />}
      <RunButton runner={runner} mustWait={mustWait} />
    </div>
  );
}
