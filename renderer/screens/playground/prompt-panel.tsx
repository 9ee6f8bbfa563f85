import { ChevronDown, ChevronRight, CircleX, TriangleAlert } from 'lucide-react';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { Segmented } from '../../components/choices.tsx';
import { estimateTokens, formatPlural } from '../../components/format.ts';
import { type Message, textOfMessages } from '../../../shared/contract/messages.ts';
import { sentMessages } from '../../components/sent-messages.ts';
import { Icon } from '../../components/icon.tsx';
import { Badge } from '../../components/badges.tsx';
import { Notice } from '../../components/state-panels.tsx';
import { useActiveDraft, useDrafts, type Draft, type DraftChange } from '../../stores/playground-drafts.ts';
import { usePlaygroundView } from '../../stores/playground-view.ts';
import { messagesOfSteps, type ToolStep } from '../../stores/tool-steps.ts';
import { useTemplateNames } from './editor/use-template-names.ts';
import { PlainEditor } from '../../components/editor/code-editor.tsx';
import { GroundingPanel } from './grounding/grounding-panel.tsx';
import { hasRoles, messageName } from './messages/message-edits.ts';
import { MessageList } from './messages/message-list.tsx';
import type { PromptBlock } from './messages/prompt-document.ts';
import { AddFirstMessage, maxMessageBlocks, TextForm, textOnlyReason } from './messages/text-form.tsx';
import { usePromptDocument } from './messages/use-prompt-document.ts';
import { useFieldRef, useFocusTargets, useOpenParts } from './session/playground-session.tsx';
import { useAnswer, useChosenModel } from './session/use-runner.ts';
import { useTemplateState, type TemplateState } from './template-state.ts';
import { RenderedPrompt } from './rendered/rendered-prompt.tsx';
import { useCacheBreak } from './rendered/use-cache-break.ts';
import { RunEstimateButton } from './run-estimate.tsx';
import { ToolChips } from '../../components/tools/tool-chips.tsx';
import { toolsField } from '../../drafts/tool-drafts.ts';
import { VariablesPanel } from './variables/variables-panel.tsx';

type PromptChoice = 'messages' | 'template' | 'rendered';

const promptViews: readonly { value: PromptChoice; label: string }[] = [
  { value: 'template', label: 'Template' },
  { value: 'rendered', label: 'Rendered' },
];

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

const noSteps: readonly ToolStep[] = [];

/** The prompt. Where the answer on the screen continued a run of it, the messages that it continued follow. */
function RenderedText({ draft, rendered }: { draft: Draft; rendered: readonly Message[] }) {
  const { systemMessage, promptText } = draft;
  const answer = useAnswer();
  const steps = answer?.request.promptText === promptText ? answer.steps : noSteps;
  const prompt = useMemo(() => sentMessages(systemMessage, rendered), [systemMessage, rendered]);
  const messages = useMemo(
    () => (steps.length === 0 ? prompt : [...prompt, ...sentMessages(null, messagesOfSteps(steps))]),
    [prompt, steps],
  );
  const cacheBreak = useCacheBreak(draft, prompt);
  return <RenderedPrompt messages={messages} cacheBreak={cacheBreak} />;
}

/** The prompt that a run would send. */
function Rendered({ draft, template }: { draft: Draft; template: TemplateState }) {
  const { messages: rendered, renderProblem, unfilled } = template;
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

interface MistakesProps {
  template: TemplateState;
  /** The messages in which positions are counted; null counts them in the whole template. */
  blocks: readonly PromptBlock[] | null;
  onGo: (offset: number) => void;
}

/** Line and column of a mistake, in its message where the template is shown as messages. */
function positionText({ line, column, start }: TemplateState['mistakes'][number], blocks: MistakesProps['blocks']) {
  const index = blocks?.findLastIndex((block) => block.start <= start) ?? -1;
  const block = blocks?.[index];
  if (!block) return `${line}:${column}`;
  const before = block.text.slice(0, start - block.start).split('\n');
  return `${messageName(index, block.role)}, ${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

function Mistakes({ template, blocks, onGo }: MistakesProps) {
  if (template.mistakes.length === 0) return null;
  return (
    <ul className="mistakes" aria-label="Template errors">
      {template.mistakes.slice(0, 3).map((mistake) => (
        <li key={mistake.start}>
          <button type="button" className="caption negative row" onClick={() => onGo(mistake.start)}>
            <Icon icon={CircleX} size="tiny" />
            {positionText(mistake, blocks)} {mistake.message}
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

interface PromptHeaderProps {
  template: TemplateState;
  /** Whether the template is shown as messages; null where it can't be, or has no roles. */
  isInMessages: boolean | null;
  onFormChange: (form: 'messages' | 'text') => void;
}

/** Heading of the prompt, with its unfilled names and the switch between its forms. */
function PromptHeader({ template, isInMessages, onFormChange }: PromptHeaderProps) {
  const view = usePlaygroundView(({ promptView }) => promptView);
  const rendered = useMemo(() => textOfMessages(template.messages ?? []), [template.messages]);
  const choose = (next: PromptChoice): void => {
    usePlaygroundView.setState({ promptView: next === 'rendered' ? 'rendered' : 'template' });
    if (next !== 'rendered' && isInMessages !== null) onFormChange(next === 'messages' ? 'messages' : 'text');
  };
  return (
    <div className="header line-top">
      <h2>{isInMessages === null ? 'Prompt' : 'Messages'}</h2>
      {template.unfilled.length > 0 && (
        <Badge tone="caution">
          <Icon icon={TriangleAlert} size="tiny" />
          {template.unfilled.length} without a value
        </Badge>
      )}
      <span className="grow" />
      {(rendered.trim() !== '' || template.files.length > 0) && (
        <RunEstimateButton rendered={rendered} files={template.files} />
      )}
      <Segmented
        label="Prompt view"
        value={view === 'rendered' ? 'rendered' : isInMessages ? 'messages' : 'template'}
        onValueChange={choose}
        options={isInMessages === null ? promptViews : [{ value: 'messages', label: 'Messages' }, ...promptViews]}
      />
    </div>
  );
}

interface PromptEditingProps {
  draft: Draft;
  /** The draft as the template was read from it: it may be older while a person types. */
  readDraft: Draft;
  template: TemplateState;
}

/** The template of a draft in the form that a person chose. A new draft gets the focus. */
function PromptEditing({ draft, readDraft, template }: PromptEditingProps) {
  const document = usePromptDocument(draft.id);
  const focusTargets = useFocusTargets();
  const view = usePlaygroundView(({ promptView }) => promptView);
  const form = usePlaygroundView(({ promptForm }) => promptForm);
  const [isTypedAsText, setTypedAsText] = useState(false);
  const names = useTemplateNames(draft, readDraft, template);
  useEffect(() => {
    if (useDrafts.getState().newId !== draft.id) return;
    useDrafts.setState({ newId: null });
    focusTargets.focus('prompt', 0);
  }, [draft.id, focusTargets]);
  // The positions of a template with mistakes are unknown; the editor moves the old highlights along with the text.
  const unfilled = useMemo(
    () => (template.mistakes.length > 0 ? null : template.unfilled.flatMap(({ positions }) => positions)),
    [template.mistakes, template.unfilled],
  );
  const { blocks } = document;
  const withRoles = hasRoles(blocks);
  const canBeInMessages = withRoles && blocks !== null && blocks.length <= maxMessageBlocks;
  const isInMessages = canBeInMessages ? form === 'messages' && !isTypedAsText : null;
  const chooseForm = (promptForm: 'messages' | 'text'): void => {
    setTypedAsText(false);
    usePlaygroundView.setState({ promptForm });
  };
  const editing = { document, names, mistakes: template.mistakes, unfilled };
  return (
    <>
      <PromptHeader template={template} isInMessages={isInMessages} onFormChange={chooseForm} />
      {view === 'rendered' && <Rendered draft={readDraft} template={template} />}
      {view === 'template' && isInMessages && blocks && <MessageList {...editing} blocks={blocks} />}
      {view === 'template' && !isInMessages && (
        <>
          <TextForm {...editing} onRoleTyped={() => setTypedAsText(true)} />
          {!withRoles && <AddFirstMessage document={document} onAdd={() => chooseForm('messages')} />}
          {withRoles && !canBeInMessages && (
            <p className="messages__reason caption tertiary">{textOnlyReason(blocks)}</p>
          )}
        </>
      )}
      <Mistakes
        template={template}
        blocks={isInMessages ? blocks : null}
        onGo={(offset) => {
          usePlaygroundView.setState({ promptView: 'template' });
          focusTargets.focus('prompt', offset);
        }}
      />
      <PrintedObjects names={template.printedObjects} />
    </>
  );
}

/** The tools of the open draft. */
function ToolsRow() {
  const draft = useActiveDraft();
  const { open } = useOpenParts();
  const fieldRef = useFieldRef();
  return (
    <section className="tools-row line-top" aria-label="Tools" tabIndex={-1} ref={fieldRef(`parameter/${toolsField}`)}>
      <h2 className="section-title">Tools</h2>
      <ToolChips draft={draft} onOpen={(toolId) => open(`tools/${toolId}`)} />
    </section>
  );
}

/** Where the prompt is written: system message, template or its rendering, and a field for each variable. */
export function PromptPanel() {
  const draft = useActiveDraft();
  const onChange = (change: DraftChange): void => useDrafts.getState().change(draft.id, change);
  // Parsing a template of megabytes takes longer than a key press; the editor doesn't wait for it.
  const readDraft = useDeferredValue(draft);
  const template = useTemplateState(readDraft);
  const model = useChosenModel(draft);
  return (
    <section className="panel play__edit" aria-label="Prompt">
      <div className="play__write">
        <SystemMessage draft={draft} onChange={onChange} />
        <PromptEditing key={draft.id} draft={draft} readDraft={readDraft} template={template} />
      </div>
      <div className="play__fill">
        <ToolsRow />
        <VariablesPanel
          draftId={draft.id}
          draftName={draft.name}
          model={model}
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
