import { ChevronDown, ChevronRight, CircleX, TriangleAlert } from 'lucide-react';
import { useCallback, useDeferredValue, useLayoutEffect, useMemo, useRef } from 'react';
import { Segmented } from '../../components/choices.tsx';
import { estimateTokens, formatPlural } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { Badge } from '../../components/badges.tsx';
import { Notice } from '../../components/state-panels.tsx';
import { promptEdit, useActiveDraft, useDrafts, type Draft, type DraftChange } from '../../stores/playground-drafts.ts';
import { usePlaygroundView } from '../../stores/playground-view.ts';
import type { TemplateNames } from './editor/template-completion.ts';
import { PlainEditor } from '../../components/editor/code-editor.tsx';
import { type FocusAt, TemplateEditor } from './editor/template-editor.tsx';
import { GroundingPanel } from './grounding/grounding-panel.tsx';
import { useFocusTargets } from './session/playground-session.tsx';
import { useTemplateState, type TemplateState } from './template-state.ts';
import { memberNames } from '../../drafts/variable-model.ts';
import { RenderedPrompt } from './rendered/rendered-prompt.tsx';
import { sentMessages } from './rendered/sent-messages.ts';
import { useCacheBreak } from './rendered/use-cache-break.ts';
import { RunEstimateButton } from './run-estimate.tsx';
import { VariablesPanel } from './variables-panel.tsx';

const promptViews = [
  { value: 'template', label: 'Template' },
  { value: 'rendered', label: 'Rendered' },
] as const;

/** The detail of a suggestion: the value, or the length of a long one. */
function describeValue(text: string, isUnfilled: boolean): string {
  if (isUnfilled) return 'no value';
  return text.length > 40 || text.includes('\n') ? formatPlural(text.length, 'character') : text;
}

function readNames({ fields, unfilled }: TemplateState, draft: Draft): TemplateNames {
  const used = fields.map((field) => ({
    name: field.name,
    detail: describeValue(field.text, unfilled.includes(field)),
    starts: field.positions.map(({ start }) => start),
  }));
  const known = new Set(used.map(({ name }) => name));
  const unused = Object.entries(draft.values)
    .filter(([name, text]) => text !== '' && !known.has(name))
    .map(([name, text]) => ({ name, detail: describeValue(text, false), starts: [] }));
  return {
    variables: [...used, ...unused],
    members: Object.fromEntries(fields.map((field) => [field.name, memberNames(field)])),
  };
}

function SystemMessage({ draft, onChange }: { draft: Draft; onChange: (change: DraftChange) => void }) {
  const isOpen = usePlaygroundView((view) => view.isSystemOpen);
  const tokens = estimateTokens(draft.systemMessage);
  return (
    <>
      <div className="header">
        <h2>
          <button
            type="button"
            className="row fold-title"
            aria-expanded={isOpen}
            onClick={() => usePlaygroundView.setState({ isSystemOpen: !isOpen })}
          >
            <Icon icon={isOpen ? ChevronDown : ChevronRight} size="small" />
            System message
          </button>
        </h2>
        {draft.systemMessage === '' && <span className="caption tertiary">Empty</span>}
        <span className="grow" />
        {tokens > 0 && <span className="caption tertiary">about {formatPlural(tokens, 'token')}</span>}
      </div>
      {isOpen && (
        <PlainEditor
          key={draft.id}
          className="play__system"
          label="System message"
          hint="The model's role and style. Variables aren't replaced here."
          value={draft.systemMessage}
          onValueChange={(systemMessage) => onChange({ systemMessage })}
        />
      )}
    </>
  );
}

function RenderedText({ draft, rendered }: { draft: Draft; rendered: string }) {
  const { systemMessage } = draft;
  const messages = useMemo(() => sentMessages(systemMessage, rendered), [systemMessage, rendered]);
  const cacheBreak = useCacheBreak(draft, messages);
  return <RenderedPrompt messages={messages} cacheBreak={cacheBreak} />;
}

/** The prompt that a run would send. */
function Rendered({ draft, template }: { draft: Draft; template: TemplateState }) {
  const { rendered, renderProblem, unfilled } = template;
  return (
    <div className="rendered">
      {rendered === null && (
        <Notice tone="negative">{renderProblem ?? 'Fix the template error to preview the prompt.'}</Notice>
      )}
      {rendered !== null && unfilled.length > 0 && (
        <Notice tone="caution">No value for: {unfilled.map(({ name }) => name).join(', ')}</Notice>
      )}
      {rendered !== null && <RenderedText draft={draft} rendered={rendered} />}
    </div>
  );
}

function Mistakes({ template, onGo }: { template: TemplateState; onGo: (offset: number) => void }) {
  if (template.mistakes.length === 0) return null;
  return (
    <ul className="mistakes" aria-label="Template errors">
      {template.mistakes.slice(0, 3).map(({ line, column, message, start }) => (
        <li key={`${line}:${column}`}>
          <button type="button" className="caption negative row" onClick={() => onGo(start)}>
            <Icon icon={CircleX} size="tiny" />
            {line}:{column} {message}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Warns of tags that print an object, before a run sends "[object Object]". */
function PrintedObjects({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  const tags = names.slice(0, 3).map((name) => `{{${name}}}`);
  return (
    <ul className="mistakes" aria-label="Template warnings">
      {tags.map((tag) => (
        <li key={tag} className="caption caution row">
          <Icon icon={TriangleAlert} size="tiny" />
          <span>
            <span className="mono">{tag}</span> prints &quot;[object Object]&quot;. Name one of the object&apos;s
            fields.
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Heading of the prompt, with its unfilled names and the switch between template and rendering. */
function PromptHeader({ template }: { template: TemplateState }) {
  const view = usePlaygroundView(({ promptView }) => promptView);
  return (
    <div className="header line-top">
      <h2>Prompt</h2>
      {template.unfilled.length > 0 && (
        <Badge tone="caution">
          <Icon icon={TriangleAlert} size="tiny" />
          {template.unfilled.length} without a value
        </Badge>
      )}
      <span className="grow" />
      {template.rendered !== null && template.rendered.trim() !== '' && (
        <RunEstimateButton rendered={template.rendered} />
      )}
      <Segmented
        label="Prompt view"
        value={view}
        onValueChange={(promptView) => usePlaygroundView.setState({ promptView })}
        options={promptViews}
      />
    </div>
  );
}

interface DraftEditorProps {
  draft: Draft;
  template: TemplateState;
  onChange: (change: DraftChange) => void;
}

/** The editor of the template. A new draft gets the focus. */
function DraftEditor({ draft, template, onChange }: DraftEditorProps) {
  const focusTargets = useFocusTargets();
  const names = useRef<TemplateNames>({ variables: [], members: {} });
  useLayoutEffect(() => {
    names.current = readNames(template, draft);
  }, [template, draft]);
  // The positions of a template with mistakes are unknown; the editor moves the old highlights along with the text.
  const unfilledPositions = useMemo(
    () => (template.mistakes.length > 0 ? null : template.unfilled.flatMap(({ positions }) => positions)),
    [template.mistakes, template.unfilled],
  );
  const onReady = useCallback(
    (focus: FocusAt) => {
      const remove = focusTargets.add('prompt', focus);
      if (useDrafts.getState().newId === draft.id) {
        useDrafts.setState({ newId: null });
        focus(0);
      }
      return remove;
    },
    [draft.id, focusTargets],
  );
  return (
    <TemplateEditor
      className="play__prompt"
      label="Prompt, Handlebars"
      hint="Write your prompt. Type {{name}} to add a variable."
      value={draft.promptText}
      onValueChange={(promptText) => onChange(promptEdit(draft, promptText))}
      names={() => names.current}
      mistakes={template.mistakes}
      unfilled={unfilledPositions}
      onReady={onReady}
    />
  );
}

/** Where the prompt is written: system message, template or its rendering, and a field for each variable. */
export function PromptPanel() {
  const draft = useActiveDraft();
  const onChange = (change: DraftChange): void => useDrafts.getState().change(draft.id, change);
  // Parsing a template of megabytes takes longer than a key press; the editor doesn't wait for it.
  const template = useTemplateState(useDeferredValue(draft));
  const focusTargets = useFocusTargets();
  const view = usePlaygroundView(({ promptView }) => promptView);
  return (
    <section className="panel play__edit" aria-label="Prompt">
      <div className="play__write">
        <SystemMessage draft={draft} onChange={onChange} />
        <PromptHeader template={template} />
        {view === 'rendered' ? (
          <Rendered draft={draft} template={template} />
        ) : (
          <DraftEditor key={draft.id} draft={draft} template={template} onChange={onChange} />
        )}
        <Mistakes template={template} onGo={(offset) => focusTargets.focus('prompt', offset)} />
        <PrintedObjects names={template.printedObjects} />
      </div>
      <div className="play__fill">
        <VariablesPanel
          fields={template.fields}
          values={draft.values}
          unfilled={template.unfilled}
          onTextChange={(name, text) => onChange({ values: { ...draft.values, [name]: text } })}
          onJsonChange={(name, isJson) =>
            onChange({
              jsonNames: isJson ? [...draft.jsonNames, name] : draft.jsonNames.filter((other) => other !== name),
            })
          }
        />
        <GroundingPanel />
      </div>
    </section>
  );
}
