import { KeyCaps, keyShortcut } from '../../components/key-caps.tsx';
import { Badge } from '../../components/marks.tsx';
import type { Model } from '../../../shared/contract/providers.ts';
import { providerName } from '../../../shared/provider-names.ts';
import type { Draft } from '../../stores/playground-drafts.ts';
import { ModelButton } from '../../components/models/model-button.tsx';
import { isOnDevice, modelPlace, shutdownBadge } from '../../components/models/model-list.ts';
import { formatPrice, formatTokenCount } from '../../components/format.ts';
import { useToday } from '../../components/use-today.ts';
import { HistoryPanel } from './history/history-panel.tsx';
import { ParametersPanel } from '../../components/parameters-panel.tsx';
import type { PlaygroundState } from './playground-screen.tsx';

function contextText({ contextTokens, outputTokens }: Model): string {
  if (contextTokens === null) return 'Unknown';
  return outputTokens === null
    ? formatTokenCount(contextTokens)
    : `${formatTokenCount(contextTokens)}, ${formatTokenCount(outputTokens)} out`;
}

function priceText(model: Model): string {
  if (model.inputPrice === null || model.outputPrice === null)
    return model.aiSystem === 'ServiceAi' && isOnDevice(model) ? 'Free (on device)' : 'Unknown';
  if (model.inputPrice === 0 && model.outputPrice === 0)
    return isOnDevice(model) && model.aiSystem === 'ServiceAi' ? 'Free (on device)' : 'Free';
  return `$${formatPrice(model.inputPrice)} in, $${formatPrice(model.outputPrice)} out`;
}

export interface ModelSectionProps {
  draft: Pick<Draft, 'aiSystem' | 'model'>;
  /** Null while the list is loading, and for a name that no list has. */
  model: Model | null;
  isPickerOpen: boolean;
  onOpenPicker: () => void;
}

/** The chosen model with its main details, and the button that opens the picker. */
export function ModelSection({ draft, model, isPickerOpen, onOpenPicker }: ModelSectionProps) {
  const today = useToday();
  const shutdown = model && shutdownBadge(model, today);
  return (
    <section aria-label="Model">
      <div className="header">
        <h2>Model</h2>
        <span className="grow" />
        <KeyCaps keys="Mod+L" />
      </div>
      <div className="play__model">
        <ModelButton
          model={draft.model}
          place={model ? modelPlace(model) : providerName(draft.aiSystem)}
          isOpen={isPickerOpen}
          aria-keyshortcuts={keyShortcut('Mod+L')}
          onClick={onOpenPicker}
        />
        {model && (
          <dl className="facts">
            <div>
              <dt>Context</dt>
              <dd>{contextText(model)}</dd>
            </div>
            <div>
              <dt>Price per 1M</dt>
              <dd>{priceText(model)}</dd>
            </div>
            {shutdown && (
              <div>
                <dt>Retirement</dt>
                <dd>
                  <Badge tone={shutdown.tone}>{shutdown.text}</Badge>
                </dd>
              </div>
            )}
          </dl>
        )}
      </div>
    </section>
  );
}

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
