import { Braces } from 'lucide-react';
import { CopyButton, IconButton } from '../button.tsx';
import { Checkbox } from '../choices.tsx';
import { useCheckedSchema, useSchemaLint } from '../editor/checked-schema.ts';
import { JsonEditor } from '../editor/json-editor.tsx';
import { estimateTokens, formatPlural } from '../format.ts';
import { TextField } from '../text-field.tsx';
import { describeSchemaIssue, isObject, type JsonSchema } from '../../../shared/json-schema.ts';
import { describeMistake, parseJson } from '../../drafts/json-text.ts';
import type { DraftTool, FunctionTool, ProviderTool } from '../../drafts/tool-drafts.ts';
import { showToast } from '../../stores/toasts.ts';
import { MockEditor } from './mock-editor.tsx';
import { ParametersForm } from './parameters-form.tsx';
import { ProviderSupport } from './provider-support.tsx';
import { ToolUses } from './tool-uses.tsx';

/** The schema of a tool is never inside `{"schema"}`: that may be a parameter's name. */
function readObject(text: string): JsonSchema | null {
  const parsed = parseJson(text);
  return 'value' in parsed && isObject(parsed.value) ? parsed.value : null;
}

const writeJson = (value: unknown): string => JSON.stringify(value, null, 2);

function SchemaSource({
  text,
  issue,
  onTextChange,
}: {
  text: string;
  issue: string | null;
  onTextChange: (text: string) => void;
}) {
  const parsed = parseJson(text);
  const mistake = 'mistake' in parsed ? parsed.mistake : null;
  const problem = mistake ? describeMistake(mistake) : issue;
  return (
    <div className="tool-pane tool-pane--source" role="group" aria-label="Source">
      <div className="header">
        <h2>JSON schema</h2>
        <span className="caption tertiary">about {formatPlural(estimateTokens(text), 'token')}</span>
        <span className="grow" />
        <IconButton
          icon={Braces}
          label="Format"
          size="small"
          aria-disabled={mistake !== null || undefined}
          onClick={() => 'value' in parsed && onTextChange(writeJson(parsed.value))}
        />
        <CopyButton text={text} label="Copy schema" size="small" variant="quiet" isIconOnly />
      </div>
      <JsonEditor
        className="tool-pane__editor"
        label="JSON schema"
        value={text}
        onValueChange={onTextChange}
        mistake={mistake}
      />
      {problem && (
        <p className="caption negative tool-pane__note" role="status">
          {problem}
        </p>
      )}
    </div>
  );
}

interface EditorProps<Tool extends DraftTool> {
  tool: Tool;
  /** Why it can't be sent. */
  problem: string | null;
  /** Every edit is saved at once, valid or not. */
  onChange: (change: Partial<Tool>) => void;
}

interface ShownRun {
  /** A run that a recording can be taken from. */
  shownRunId: string | null;
}

function ToolHead({ tool, problem, onChange }: EditorProps<FunctionTool>) {
  const isNameProblem = problem !== null && (/name/i.test(problem) || tool.name === '');
  return (
    <div className="tool-head">
      <TextField
        key={tool.id}
        label="Name"
        autoFocus={tool.name === ''}
        isMono
        value={tool.name}
        error={isNameProblem ? problem : null}
        onValueChange={(name) => onChange({ name })}
      />
      <TextField
        label="Description"
        value={tool.description}
        onValueChange={(description) => onChange({ description })}
      />
      <Checkbox
        label="Strict: arguments must follow the schema exactly"
        isChecked={tool.strict === true}
        onCheckedChange={(isStrict) => onChange({ strict: isStrict ? true : null })}
      />
    </div>
  );
}

function FunctionEditor({ tool, problem, shownRunId, onChange }: EditorProps<FunctionTool> & ShownRun) {
  const { parameters, mock } = tool;
  const { schema, issue } = useCheckedSchema(parameters, readObject);
  const lint = useSchemaLint(issue === null ? schema : null);
  const form = readObject(parameters);
  const setSchema = (next: JsonSchema): void => onChange({ parameters: writeJson(next) });
  const fix = (fixed: JsonSchema): void => {
    setSchema(fixed);
    showToast({
      tone: 'neutral',
      text: `Fixed the schema of ${tool.name || 'the tool'}.`,
      action: { label: 'Undo', run: () => onChange({ parameters }) },
    });
  };
  return (
    <>
      <section className="panel tools-view__editor scroll" aria-label={tool.name || 'Unnamed tool'}>
        <ToolHead tool={tool} problem={problem} onChange={onChange} />
        <div className="tool-schema line-top">
          {form ? (
            <ParametersForm schema={form} onChange={setSchema} />
          ) : (
            <div className="tool-pane" role="group" aria-label="Form">
              <p className="small tertiary tool-pane__note">Fix the JSON schema to edit its parameters here.</p>
            </div>
          )}
          <SchemaSource
            key={tool.id}
            text={parameters}
            issue={issue ? `The schema ${describeSchemaIssue(issue)}` : null}
            onTextChange={(text) => onChange({ parameters: text })}
          />
        </div>
        <MockEditor
          name={tool.name}
          mock={mock}
          schema={form}
          shownRunId={shownRunId}
          onChange={(next) => onChange({ mock: next })}
        />
      </section>
      <div className="panel panel--inset line-left tools-view__side">
        <ProviderSupport lint={lint} onFix={fix} />
        {tool.source && <ToolUses toolId={tool.source.toolId} />}
      </div>
    </>
  );
}

function ProviderToolEditor({ tool, problem, onChange }: EditorProps<ProviderTool>) {
  const parsed = parseJson(tool.json);
  return (
    <section className="panel tools-view__editor" aria-label="Provider tool">
      <div className="header">
        <h2>Provider tool</h2>
        <span className="caption tertiary">Passed through unchanged</span>
      </div>
      <JsonEditor
        className="tool-pane__editor"
        label="Provider tool"
        value={tool.json}
        onValueChange={(json) => onChange({ json })}
        mistake={'mistake' in parsed ? parsed.mistake : null}
      />
      {problem && <p className="caption negative tool-pane__note">{problem}</p>}
    </section>
  );
}

/** One tool: its fields, its schema as a form and as text, where its results come from, and what the providers support. */
export function ToolEditor({
  tool,
  problem,
  shownRunId,
  onChange,
}: Pick<EditorProps<DraftTool>, 'tool' | 'problem'> & ShownRun & { onChange: (change: Partial<DraftTool>) => void }) {
  return tool.kind === 'function' ? (
    <FunctionEditor key={tool.id} tool={tool} problem={problem} shownRunId={shownRunId} onChange={onChange} />
  ) : (
    <ProviderToolEditor key={tool.id} tool={tool} problem={problem} onChange={onChange} />
  );
}
