import { useDeferredValue, useRef, useState, useSyncExternalStore } from 'react';
import { useLocation } from 'wouter';
import type { Model } from '../../../shared/contract/providers.ts';
import { modelKey } from '../../components/models/model-list.ts';
import { ModelPicker } from '../../components/models/model-picker.tsx';
import { ResizableGroup, ResizablePanel, ResizeHandle } from '../../components/resizable.tsx';
import { useInstallOnDevice, useOnDevice } from '../../queries/on-device.ts';
import { draftAddress, runAddress } from '../../shell/addresses.ts';
import { useMediaQuery } from '../../shell/use-media-query.ts';
import { useShowPageTitle } from '../../stores/window.ts';
import { draftSlot } from '../../stores/completion-runs.ts';
import { rememberModel } from '../../stores/model-choices.ts';
import { type DraftChange, useActiveDraft, useDrafts } from '../../stores/playground-drafts.ts';
import { usePlaygroundView } from '../../stores/playground-view.ts';
import { AnswerPanel } from './answer/answer-panel.tsx';
import { offeredModel } from './first-start.tsx';
import { GroundingPanel } from './grounding/grounding-panel.tsx';
import { useComparison } from './compare/use-comparison.ts';
import { PromptPanel } from './prompt-panel.tsx';
import { useAddresses } from './session/use-addresses.ts';
import { usePlaygroundActions } from './session/use-playground-actions.ts';
import { isWaitingForModel, useChosenModel, useLiveRun, useRunner, useShownRun } from './session/use-session.ts';
import { SaveDialog } from './save-dialog.tsx';
import { SidePanel } from './side-panel.tsx';
import { useTemplateState } from './template-state.ts';
import { Toolbar } from './toolbar.tsx';
import { useWireCode } from './wire/wire-code.ts';
import { WirePanel } from './wire/wire-panel.tsx';
import { LoadingRows } from '../../components/state-panels.tsx';
import './playground.css';

function toggleWire(): void {
  usePlaygroundView.setState(({ isWireOpen }) => ({ isWireOpen: !isWireOpen }));
}

/** Runs a draft when it waits for the on-device model, and fetches that model where nobody has begun to. */
function useInstallOffered(): () => void {
  const { data } = useOnDevice();
  const { mutate } = useInstallOnDevice();
  return () => {
    const offered = offeredModel(data?.models ?? []);
    if (offered && ['absent', 'paused', 'failed'].includes(offered.state)) mutate(offered.id);
  };
}

/** The open draft with everything that is known of it and everything that can be done with it. */
function usePlayground() {
  const [, navigate] = useLocation();
  const draft = useActiveDraft();
  const model = useChosenModel(draft);
  // Reading a template of megabytes takes longer than a key press; the editor does not wait for it.
  const template = useTemplateState(useDeferredValue(draft));
  const runner = useRunner(draft.id, model);
  const install = useInstallOffered();
  const [isPickerOpen, setPickerOpen] = useState(false);
  const [isRenaming, setRenaming] = useState(false);
  const [isSaving, setSaving] = useState(false);
  const focusAt = useRef<((offset: number) => void) | null>(null);
  const mustWait = isWaitingForModel(model);
  const runOwn = (): void => {
    if (mustWait) install();
    runner.run();
  };
  const comparison = useComparison(draft, model, (choice) => (choice && !mustWait ? runner.runWith(choice) : runOwn()));
  const run = comparison.isActive ? comparison.run : runOwn;
  const stop = (): void => {
    runner.stop();
    comparison.stop();
  };
  return {
    draft,
    model,
    template,
    runner: { ...runner, run, stop, isActive: runner.isActive || comparison.isRunning },
    comparison,
    install,
    runOwn,
    stopOwn: runner.stop,
    mustWait,
    focusAt,
    isPickerOpen,
    setPickerOpen,
    isRenaming,
    setRenaming,
    isSaving,
    setSaving,
    live: useLiveRun(draftSlot(draft.id)),
    shown: useShownRun(draftSlot(draft.id), draft.shownRunId, model),
    code: useWireCode(draft, model),
    change: (change: DraftChange) => useDrafts.getState().change(draft.id, change),
    openDraft: (draftId: string) => navigate(draftAddress(draftId)),
    restore: (runId: string) => navigate(runAddress(runId)),
  };
}

export type PlaygroundState = ReturnType<typeof usePlayground>;

function useActionsOf(state: PlaygroundState): void {
  const { draft, runner, shown, openDraft, setPickerOpen, setRenaming, setSaving, focusAt } = state;
  const text = shown?.text ?? '';
  usePlaygroundActions({
    draft,
    runner,
    openDraft,
    openPicker: () => setPickerOpen(true),
    rename: () => setRenaming(true),
    save: () => setSaving(true),
    toggleWire,
    compare: state.comparison.canAdd ? () => state.comparison.add() : null,
    closeComparison: state.comparison.isActive ? state.comparison.close : null,
    focusEditor: () => {
      usePlaygroundView.setState({ promptView: 'template' });
      requestAnimationFrame(() => focusAt.current?.(draft.promptText.length));
    },
    copyAnswer: text === '' ? null : () => void navigator.clipboard.writeText(text),
  });
}

function Wire({ state }: { state: PlaygroundState }) {
  const { draft, live, shown, code, change } = state;
  return (
    <WirePanel
      // The request and frames of the window's own call aren't stored; what the provider got is.
      run={live?.key === shown?.key ? live : null}
      shown={shown}
      transport={draft.transport}
      onTransportChange={(transport) => change({ transport })}
      code={code}
      onToggle={toggleWire}
    />
  );
}

/** Percentages of the prompt and the answer, side by side and one above the other. */
const besideLayout = { edit: 48, answer: 52 };
const stackedLayout = { edit: 36, answer: 64 };

/** Pixels that a compared answer needs to be read with ease. */
const minColumnWidth = 300;
/** Pixels of the window's width that the rail and the panel of model, parameters and history take. */
const besideWork = 300;

/** Whether the prompt stands above its answers, because all of them don't fit beside it. */
function useStackedPanes(columnCount: number): boolean {
  const minWidth = Math.ceil((columnCount * minColumnWidth * 100) / besideLayout.answer) + besideWork;
  const fitsBeside = useMediaQuery(`(min-width: ${minWidth}px)`);
  return columnCount > 1 && !fitsBeside;
}

function Work({ state }: { state: PlaygroundState }) {
  const isWireOpen = usePlaygroundView((view) => view.isWireOpen);
  const isStacked = useStackedPanes(1 + state.comparison.columns.length);
  const { draft, template, shown, change, focusAt } = state;
  return (
    <div className={isStacked ? 'panel play__work is-stacked' : 'panel play__work'}>
      <ResizableGroup id="playground-rows" orientation="vertical">
        <ResizablePanel id="panes" minSize={160}>
          <ResizableGroup
            id={isStacked ? 'playground-panes-stacked' : 'playground-panes'}
            orientation={isStacked ? 'vertical' : 'horizontal'}
            turnedLayout={isStacked ? stackedLayout : besideLayout}
          >
            <ResizablePanel
              id="edit"
              defaultSize={`${(isStacked ? stackedLayout : besideLayout).edit}%`}
              minSize={isStacked ? 96 : 280}
            >
              <PromptPanel draft={draft} template={template} onChange={change} focusAt={focusAt}>
                <GroundingPanel state={state} />
              </PromptPanel>
            </ResizablePanel>
            <ResizeHandle label={isStacked ? 'Height of the prompt' : 'Width of the prompt'} />
            <ResizablePanel id="answer" minSize={isStacked ? 140 : 280}>
              <AnswerPanel
                run={shown}
                state={state}
                mustWait={state.mustWait}
                isWaiting={state.runner.isWaiting}
                actions={{
                  runAgain: state.runner.run,
                  pickModel: () => state.setPickerOpen(true),
                  installModel: state.runner.run,
                }}
              />
            </ResizablePanel>
          </ResizableGroup>
        </ResizablePanel>
        {isWireOpen && <ResizeHandle label="Height of the wire" />}
        {isWireOpen && (
          <ResizablePanel id="wire" defaultSize={272} minSize={120}>
            <Wire state={state} />
          </ResizablePanel>
        )}
      </ResizableGroup>
      {!isWireOpen && <Wire state={state} />}
    </div>
  );
}

/** The screen: toolbar, prompt and answer, wire, and at the side model, parameters and history. */
export function Playground() {
  const state = usePlayground();
  const isWide = useMediaQuery('(min-width: 1100px)');
  const { draft, runner, isPickerOpen, setPickerOpen, change } = state;
  useAddresses();
  useActionsOf(state);
  useShowPageTitle(draft.isExample ? `Examples / ${draft.name}` : draft.name);
  const choose = (model: Pick<Model, 'aiSystem' | 'name'>): void => {
    change({ aiSystem: model.aiSystem, model: model.name });
    rememberModel(model);
    setPickerOpen(false);
  };
  return (
    <>
      <Toolbar state={state} isWide={isWide} />
      <ResizableGroup id="playground" className="play">
        <ResizablePanel id="work" minSize="50%">
          <Work state={state} />
        </ResizablePanel>
        {isWide && <ResizeHandle label="Width of model, parameters and history" />}
        {isWide && (
          <ResizablePanel
            id="side"
            defaultSize={256}
            minSize={232}
            maxSize={440}
            groupResizeBehavior="preserve-pixel-size"
          >
            <SidePanel state={state} />
          </ResizablePanel>
        )}
      </ResizableGroup>
      <ModelPicker
        isOpen={isPickerOpen}
        chosenKey={modelKey({ aiSystem: draft.aiSystem, name: draft.model })}
        onChoose={choose}
        onChooseAndRun={(model) => {
          choose(model);
          requestAnimationFrame(runner.run);
        }}
        onClose={() => setPickerOpen(false)}
      />
      <ModelPicker
        isOpen={state.comparison.picking !== null}
        chosenKey={modelKey({ aiSystem: draft.aiSystem, name: draft.model })}
        onChoose={state.comparison.onModel}
        onChooseAndRun={(model) => {
          state.comparison.onModelAndRun(model);
        }}
        onClose={state.comparison.endPicking}
      />
      {state.isSaving && <SaveDialog draft={draft} onClose={() => state.setSaving(false)} />}
    </>
  );
}

/** The drafts come from the disk: until they are here nothing may be written over them. */
function useHaveDrafts(): boolean {
  return useSyncExternalStore(useDrafts.persist.onFinishHydration, useDrafts.persist.hasHydrated);
}

/** Write a prompt, fill it, run it, look at it. */
export function PlaygroundScreen() {
  return useHaveDrafts() ? <Playground /> : <LoadingRows label="Loading the playground" rows={6} />;
}
