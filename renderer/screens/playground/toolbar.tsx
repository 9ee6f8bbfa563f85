import {
  ChevronDown,
  ChevronsUpDown,
  CircleX,
  Columns3,
  Copy,
  FilePlus2,
  History,
  Pencil,
  Play,
  Save,
  Settings2,
  Square,
  Trash2,
  TriangleAlert,
} from 'lucide-react';
import { useDeferredValue, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { Button, IconButton } from '../../components/button.tsx';
import { formatTime } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { keyShortcut } from '../../components/key-caps.tsx';
import { Badge, Spinner } from '../../components/badges.tsx';
import { Menu } from '../../components/menu.tsx';
import { lackOf } from '../../components/models/model-list.ts';
import { Popover } from '../../components/popover.tsx';
import { isEdited } from '../../drafts/draft-version.ts';
import { usePromptVersion } from '../../queries/prompts.ts';
import { promptAddress } from '../../shell/addresses.ts';
import { useActiveDraft, useDrafts, type Draft } from '../../stores/playground-drafts.ts';
import { usePlaygroundView } from '../../stores/playground-view.ts';
import { HistoryPanel } from './history/history-panel.tsx';
import { useFocusTargets, useOpenParts, useRunControls, type RunControls } from './session/playground-session.tsx';
import { useModelNeeds } from './session/use-model-needs.ts';
import { createEmptyDraft, deleteDraft, useCompareRows, useOpenDraft } from './session/use-playground-actions.ts';
import { useChosenModel } from './session/use-runner.ts';
import { Parameters } from './side-panel.tsx';

/** More are found by name in the command palette. */
const maxMenuItems = 12;

function NameField({ draft, onEnd }: { draft: Draft; onEnd: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [name, setName] = useState(draft.name);
  const isCancelled = useRef(false);
  const finish = (): void => {
    const next = name.trim();
    if (!isCancelled.current && next !== '') useDrafts.getState().rename(draft.id, next);
    onEnd();
  };
  const finishForAnother = useEffectEvent(() => {
    if (useDrafts.getState().activeId !== draft.id) finish();
  });
  useEffect(() => {
    input.current?.select();
    // Keys open another prompt while the field has the focus.
    return () => finishForAnother();
  }, []);
  return (
    <div className="field prompt-name__field">
      <input
        ref={input}
        autoFocus
        aria-label="Prompt name"
        maxLength={120}
        value={name}
        onChange={(event) => setName(event.target.value)}
        onBlur={finish}
        onKeyDown={(event) => {
          if (event.key === 'Enter') event.currentTarget.blur();
          if (event.key !== 'Escape') return;
          event.preventDefault();
          isCancelled.current = true;
          event.currentTarget.blur();
        }}
      />
    </div>
  );
}

/** The name of the prompt. Its menu lists the other prompts and the commands for this one. */
function DraftMenu() {
  const draft = useActiveDraft();
  const { openPart, open, close } = useOpenParts();
  const openDraft = useOpenDraft();
  const compareRows = useCompareRows();
  const drafts = useDrafts((state) => state.drafts);
  const { duplicate } = useDrafts.getState();
  if (openPart === 'name-field') return <NameField key={draft.id} draft={draft} onEnd={() => close('name-field')} />;
  const newest = drafts.toSorted((a, b) => b.updatedAt - a.updatedAt).slice(0, maxMenuItems);
  return (
    <>
      <Menu
        groups={[
          [
            { label: 'New prompt', icon: FilePlus2, onSelect: () => openDraft(createEmptyDraft()) },
            { label: 'Rename', icon: Pencil, onSelect: () => requestAnimationFrame(() => open('name-field')) },
            { label: 'Duplicate', icon: Copy, onSelect: () => openDraft(duplicate(draft.id)) },
            { label: 'Compare over rows', icon: Columns3, onSelect: compareRows },
          ],
          newest.map(({ id, name, updatedAt }) => ({
            label: name,
            get detail() {
              return formatTime(new Date(updatedAt).toISOString());
            },
            isChecked: id === draft.id,
            onSelect: () => openDraft(id),
          })),
          [{ label: 'Delete', icon: Trash2, isNegative: true, onSelect: () => deleteDraft(draft, openDraft) }],
        ]}
      >
        <button type="button" className="row prompt-name">
          <span className="strong truncate">{draft.name}</span>
          <Icon icon={ChevronDown} size="small" />
        </button>
      </Menu>
      {draft.isExample && <Badge isOutlined>Example</Badge>}
    </>
  );
}

function buttonState({ isActive, isWaiting, mustWait }: RunControls) {
  if (isActive) return { isRunning: true, text: 'Stop' };
  if (isWaiting) return { isRunning: true, text: 'Cancel run' };
  return { isRunning: false, text: mustWait ? 'Download and run' : 'Run' };
}

/** Run, Download and run, or Stop. One element in all states, so that the focus stays on it when a run starts or finishes. */
function RunButton() {
  const controls = useRunControls();
  const { isRunning, text } = buttonState(controls);
  return (
    <>
      {controls.isWaiting && !controls.isActive && (
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
        onClick={isRunning ? controls.stop : controls.run}
      >
        {text}
      </Button>
    </>
  );
}

/** The version that the draft came from, and whether the draft differs from it. Nothing for a draft outside the library. */
function VersionLink() {
  const draft = useActiveDraft();
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

/** Why the last attempt didn't start. A press moves the focus to the cause. */
function BlockerButton() {
  const { blocker } = useRunControls();
  const focusTargets = useFocusTargets();
  const { open } = useOpenParts();
  if (!blocker) return null;
  const { location, message } = blocker;
  const goTo = (): void => {
    if (location.kind === 'prompt') {
      usePlaygroundView.setState({ promptView: 'template' });
      focusTargets.focus('prompt', location.offset);
      return;
    }
    const isDrawn = focusTargets.focus(`${location.kind}/${location.name}`);
    if (location.kind === 'parameter' && !isDrawn) open('parameters');
  };
  return (
    <button type="button" className="row small negative truncate toolbar__blocker" onClick={goTo}>
      <Icon icon={CircleX} size="small" />
      <span className="truncate" role="alert">
        {message}
      </span>
    </button>
  );
}

/** What the chosen model lacks for the prompt. The host rejects files that it doesn't support, and leaves out tools. */
function LackNote() {
  const draft = useActiveDraft();
  const { blocker } = useRunControls();
  const { open } = useOpenParts();
  const model = useChosenModel(draft);
  const needs = useModelNeeds(useDeferredValue(draft));
  const lack = model && lackOf(model, needs);
  if (lack === null || blocker !== null) return null;
  const text = `${model!.title} ${lack[0]!.toLowerCase()}${lack.slice(1)}`;
  return (
    <button
      type="button"
      className="row small caution truncate toolbar__blocker"
      title={`${text}. Choose another model`}
      onClick={() => open('model-picker')}
    >
      <Icon icon={TriangleAlert} size="small" />
      <span className="truncate" role="status">
        {text}
      </span>
    </button>
  );
}

/** In a narrow window the side panel's parts are buttons. */
function NarrowButtons() {
  const { model } = useActiveDraft();
  const { openPart, open, close } = useOpenParts();
  return (
    <>
      <Button className="toolbar__model" aria-haspopup="dialog" onClick={() => open('model-picker')}>
        <span className="truncate">{model}</span>
        <Icon icon={ChevronsUpDown} size="small" />
      </Button>
      <Popover
        label="Parameters"
        isOpen={openPart === 'parameters'}
        onOpenChange={(isOpen) => (isOpen ? open('parameters') : close('parameters'))}
        align="end"
        className="play__popover"
        trigger={<IconButton variant="default" icon={Settings2} label="Parameters" />}
      >
        <Parameters />
      </Popover>
      <Popover
        label="History"
        align="end"
        className="play__popover play__popover--history"
        trigger={<IconButton variant="default" icon={History} label="History" />}
      >
        <HistoryPanel />
      </Popover>
    </>
  );
}

/** The prompt's name with its menu, and the button that runs it. */
export function Toolbar({ isWide }: { isWide: boolean }) {
  const { open } = useOpenParts();
  return (
    <div className="toolbar" role="toolbar" aria-label="Prompt">
      <DraftMenu />
      <VersionLink />
      <Button
        icon={Save}
        size="small"
        variant="quiet"
        aria-label="Save to library"
        aria-keyshortcuts={keyShortcut('Mod+S')}
        onClick={() => open('save-dialog')}
      >
        Save
      </Button>
      <span className="grow" />
      <BlockerButton />
      <LackNote />
      {!isWide && <NarrowButtons />}
      <RunButton />
    </div>
  );
}
