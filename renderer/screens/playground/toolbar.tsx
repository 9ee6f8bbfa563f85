import { ChevronsUpDown, CircleX, History, Play, Save, Settings2, Square } from 'lucide-react';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { IconButton } from '../../components/icon-button.tsx';
import { keyShortcut } from '../../components/key-caps.tsx';
import { Popover } from '../../components/popover.tsx';
import { DraftMenu } from './draft-menu.tsx';
import type { PlaygroundState } from './playground-screen.tsx';
import { Parameters, RunHistory } from './side-panel.tsx';
import { Badge, Spinner } from '../../components/marks.tsx';
import { usePromptVersion } from '../../queries/prompts.ts';
import { promptAddress } from '../../shell/addresses.ts';
import type { Draft } from '../../stores/playground-drafts.ts';
import { isEdited } from '../../drafts/draft-version.ts';
import type { Runner } from './session/use-session.ts';

function buttonState({ runner, mustWait }: { runner: Runner; mustWait: boolean }) {
  if (runner.isActive) return { isRunning: true, text: 'Stop' };
  if (runner.isWaiting) return { isRunning: true, text: 'Cancel run' };
  return { isRunning: false, text: mustWait ? 'Download and run' : 'Run' };
}

/** Run, Download and run, or Stop. One element in all states, so that the focus stays on it when a run starts or finishes. */
function RunButton(props: { runner: Runner; mustWait: boolean }) {
  const { runner } = props;
  const { isRunning, text } = buttonState(props);
  return (
    <>
      {runner.isWaiting && !runner.isActive && (
        <span className="row small accent nowrap" role="status">
          <Spinner />
          Queued until the model is ready
        </span>
      )}
      <Button
        variant={isRunning ? 'default' : 'primary'}
        icon={isRunning ? Square : Play}
        keys={isRunning ? 'Escape' : 'Mod+Enter'}
        className="play__run"
        onClick={isRunning ? runner.stop : runner.run}
      >
        {text}
      </Button>
    </>
  );
}

/** Which version a draft came from, and whether it still is that version. Nothing for a draft that is not in the library. */
function VersionMark({ draft }: { draft: Draft }) {
  const source = draft.source ?? null;
  const { data: version } = usePromptVersion(source?.promptId ?? null, source?.versionId ?? null);
  const edited = useMemo(() => version !== undefined && isEdited(draft, version), [draft, version]);
  if (source === null || !version) return null;
  return (
    <>
      <Link
        className="link small nowrap"
        href={promptAddress(source.promptId, source.versionId)}
        aria-label={`Version ${version.number} in the library`}
      >
        Version {version.number}
      </Link>
      {edited && <Badge tone="caution">Edited</Badge>}
    </>
  );
}

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
