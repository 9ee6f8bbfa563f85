import { Suspense, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import type { Model } from '../../../shared/contract/providers.ts';
import { lazyPart } from '../../components/lazy-part.tsx';
import { prefetchMarkdown } from '../../components/markdown/lazy-markdown.tsx';
import { modelKey } from '../../components/models/model-list.ts';
import { ModelPicker } from '../../components/models/model-picker.tsx';
import { SchemaDialog } from '../../components/parameters-panel.tsx';
import { ResizableGroup, ResizablePanel, ResizeHandle } from '../../components/resizable.tsx';
import { LoadingRows } from '../../components/state-panels.tsx';
import { useMediaQuery } from '../../shell/use-media-query.ts';
import { rememberModel } from '../../stores/model-choices.ts';
import { useActiveDraft, useDrafts } from '../../stores/playground-drafts.ts';
import { usePlaygroundView } from '../../stores/playground-view.ts';
import { useShowPageTitle } from '../../stores/window.ts';
import { AnswerPanel } from './answer/answer-panel.tsx';
import { PromptPanel } from './prompt-panel.tsx';
import { SaveDialog } from './save-dialog.tsx';
import {
  openToolId,
  PlaygroundSession,
  useComparison,
  useOpenParts,
  useRunControls,
} from './session/playground-session.tsx';
import { useAddresses } from './session/use-addresses.ts';
import { useModelNeeds } from './session/use-model-needs.ts';
import { usePlaygroundActions } from './session/use-playground-actions.ts';
import { SidePanel } from './side-panel.tsx';
import { Toolbar } from './toolbar.tsx';
import { WirePanel } from './wire/wire-panel.tsx';
import './playground.css';

/** The editor is large, and few prompts have tools. */
const ToolsView = lazyPart('the tool editor', async () => (await import('./tools-view.tsx')).ToolsView);

/** Percentages of the prompt and the answer, side by side and one above the other. */
const besideLayout = { edit: 48, answer: 52 };
const stackedLayout = { edit: 36, answer: 64 };

/** Pixels that a compared answer needs to be readable. */
const minColumnWidth = 300;
/** Pixels of the window's width that the rail and the panel of model, parameters and history take. */
const sideWidth = 300;

/** Whether the prompt is above its answers, because they don't all fit beside it. */
function useStackedPanes(columnCount: number): boolean {
  const minWidth = Math.ceil((columnCount * minColumnWidth * 100) / besideLayout.answer) + sideWidth;
  const fitsBeside = useMediaQuery(`(min-width: ${minWidth}px)`);
  return columnCount > 1 && !fitsBeside;
}

function WorkArea() {
  const isWireOpen = usePlaygroundView((view) => view.isWireOpen);
  const { columns } = useComparison();
  const isStacked = useStackedPanes(1 + columns.length);
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
              <PromptPanel />
            </ResizablePanel>
            <ResizeHandle label={isStacked ? 'Height of the prompt' : 'Width of the prompt'} />
            <ResizablePanel id="answer" minSize={isStacked ? 140 : 280}>
              <AnswerPanel />
            </ResizablePanel>
          </ResizableGroup>
        </ResizablePanel>
        {isWireOpen && <ResizeHandle label="Height of the wire" />}
        {isWireOpen && (
          <ResizablePanel id="wire" defaultSize={272} minSize={120}>
            <WirePanel />
          </ResizablePanel>
        )}
      </ResizableGroup>
      {!isWireOpen && <WirePanel />}
    </div>
  );
}

/** The pickers of models, for the draft and for a compared column, and the dialog that saves the draft. */
function Dialogs() {
  const draft = useActiveDraft();
  const { openPart, close } = useOpenParts();
  const { run } = useRunControls();
  // A run that follows the choice of a model must see that model, which the next render brings.
  const newestRun = useRef(run);
  useLayoutEffect(() => {
    newestRun.current = run;
  }, [run]);
  const comparison = useComparison();
  const choose = (model: Pick<Model, 'aiSystem' | 'name'>): void => {
    useDrafts.getState().change(draft.id, { aiSystem: model.aiSystem, model: model.name });
    rememberModel(model);
    close('model-picker');
  };
  const isPicking = openPart === 'model-picker' || comparison.isPicking;
  const needs = useModelNeeds(isPicking ? draft : null);
  const chosenKey = modelKey({ aiSystem: draft.aiSystem, name: draft.model });
  return (
    <>
      <ModelPicker
        isOpen={openPart === 'model-picker'}
        chosenKey={chosenKey}
        needs={needs}
        onChoose={choose}
        onChooseAndRun={(model) => {
          choose(model);
          requestAnimationFrame(() => newestRun.current());
        }}
        onClose={() => close('model-picker')}
      />
      <ModelPicker
        isOpen={comparison.isPicking}
        chosenKey={chosenKey}
        needs={needs}
        onChoose={comparison.onModel}
        onChooseAndRun={comparison.onModelAndRun}
        onClose={comparison.endPicking}
      />
      {openPart === 'save-dialog' && <SaveDialog draft={draft} onClose={() => close('save-dialog')} />}
      {openPart === 'schema-dialog' && (
        // Not in the side panel, which a narrower window folds.
        <Suspense fallback={null}>
          <SchemaDialog
            text={draft.parameters.response_format ?? ''}
            onTextChange={(text) =>
              useDrafts.getState().change(draft.id, { parameters: { ...draft.parameters, response_format: text } })
            }
            onClose={() => close('schema-dialog')}
          />
        </Suspense>
      )}
    </>
  );
}

/** Registers the actions, the addresses and the title. Separate from the panels, which don't render with every edit of a draft. */
function WindowConnection() {
  const { isExample, name } = useActiveDraft();
  useAddresses();
  usePlaygroundActions();
  useShowPageTitle(isExample ? `Examples / ${name}` : name);
  return null;
}

/** Toolbar, prompt, answer and wire, with model, parameters and history at the side. */
function PromptAndAnswer() {
  const isWide = useMediaQuery('(min-width: 1100px)');
  return (
    <>
      <Toolbar isWide={isWide} />
      <ResizableGroup id="playground" className="play">
        <ResizablePanel id="work" minSize="50%">
          <WorkArea />
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
            <SidePanel />
          </ResizablePanel>
        )}
      </ResizableGroup>
    </>
  );
}

/** The tool editor takes the place of prompt and answer. */
function Views() {
  const { openPart } = useOpenParts();
  return openToolId(openPart) === null ? <PromptAndAnswer /> : <ToolsView />;
}

/** Milliseconds after which it is loaded also in a busy window. */
const prefetchTimeout = 3_000;

function Playground() {
  useEffect(() => {
    // Safari has no idle callbacks; it loads the parser with the first answer.
    if (!('requestIdleCallback' in window)) return;
    const idle = requestIdleCallback(prefetchMarkdown, { timeout: prefetchTimeout });
    return () => cancelIdleCallback(idle);
  }, []);
  return (
    <PlaygroundSession>
      <WindowConnection />
      <Views />
      <Dialogs />
    </PlaygroundSession>
  );
}

/** Drafts load from the disk. An edit before that would overwrite them. */
function useHaveDrafts(): boolean {
  return useSyncExternalStore(useDrafts.persist.onFinishHydration, useDrafts.persist.hasHydrated);
}

/** The screen where a prompt is written, filled, run and compared. */
export function PlaygroundScreen() {
  return useHaveDrafts() ? <Playground /> : <LoadingRows label="Loading the playground" rows={6} />;
}
