import { KeyCaps, keyShortcut } from '../../components/key-caps.tsx';
import { Badge } from '../../components/badges.tsx';
import type { Model } from '../../../shared/contract/providers.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { useActiveDraft, useDrafts } from '../../stores/playground-drafts.ts';
import { ModelButton } from '../../components/models/model-button.tsx';
import { isOnDevice, modelLocation, shutdownBadge } from '../../components/models/model-list.ts';
import { formatPrice, formatTokenCount } from '../../components/format.ts';
import { useToday } from '../../components/use-today.ts';
import { HistoryPanel } from './history/history-panel.tsx';
import { ParametersPanel } from '../../components/parameters-panel.tsx';
import { ToolParameters } from '../../components/tools/tool-chips.tsx';
import { useFieldRef, useOpenParts } from './session/playground-session.tsx';
import { useChosenModel } from './session/use-runner.ts';

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

/** The chosen model with its main details, and the button that opens the picker. */
function ModelSection() {
  const draft = useActiveDraft();
  const model = useChosenModel(draft);
  const { openPart, open } = useOpenParts();
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
          location={model ? modelLocation(model) : providerName(draft.aiSystem)}
          isOpen={openPart === 'model-picker'}
          aria-keyshortcuts={keyShortcut('Mod+L')}
          onClick={() => open('model-picker')}
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

export function Parameters() {
  const draft = useActiveDraft();
  const fieldRef = useFieldRef();
  const { open } = useOpenParts();
  return (
    <ParametersPanel
      draft={draft}
      model={useChosenModel(draft)}
      onChange={(change) => useDrafts.getState().change(draft.id, change)}
      fieldRef={(name) => fieldRef(`parameter/${name}`)}
      onSchemaOpen={() => open('schema-dialog')}
    >
      <ToolParameters draft={draft} onChange={(change) => useDrafts.getState().change(draft.id, change)} />
    </ParametersPanel>
  );
}

/** Model, parameters and history. In a narrow window they are behind buttons of the toolbar. */
export function SidePanel() {
  return (
    <aside className="panel panel--inset play__side" aria-label="Model, parameters and history">
      <ModelSection />
      <div className="scroll play__parameters">
        <Parameters />
      </div>
      <HistoryPanel />
    </aside>
  );
}
