import { HistoryPanel } from './history/history-panel.tsx';
import { ModelSection } from './model-section.tsx';
import { ParametersPanel } from '../../components/parameters-panel.tsx';
import type { PlaygroundState } from './playground.tsx';

export function Parameters({ state }: { state: PlaygroundState }) {
  return <ParametersPanel draft={state.draft} model={state.model} onChange={state.change} />;
}

export function RunHistory({ state }: { state: PlaygroundState }) {
  const { draft, live, restore } = state;
  return <HistoryPanel draftId={draft.id} live={live} shownRunId={draft.shownRunId} onRestore={restore} />;
}

/** Model, parameters and history. In a narrow window they are behind buttons of the toolbar. */
export function SidePanel({ state }: { state: PlaygroundState }) {
  return (
    <aside className="panel panel--inset play__side" aria-label="Model, parameters and history">
      <ModelSection
        draft={state.draft}
        model={state.model}
        isPickerOpen={state.isPickerOpen}
        onOpenPicker={() => state.setPickerOpen(true)}
      />
      <div className="scroll play__parameters">
        <Parameters state={state} />
      </div>
      <RunHistory state={state} />
    </aside>
  );
}
