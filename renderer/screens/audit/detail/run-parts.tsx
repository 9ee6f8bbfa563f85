import { useLocation } from 'wouter';
import { Flag } from 'lucide-react';
import type { ConversationRun } from '../../../../shared/contract/conversations.ts';
import { Button } from '../../../components/button.tsx';
import { remedyAddress } from '../../../components/remedies.ts';
import { blockedWords } from '../../../components/run-words.ts';
import { Failure, Notice } from '../../../components/state-panels.tsx';
import { runAddress, settingsAddress, type SettingsPageId } from '../../../shell/addresses.ts';
import { useAuditViewState } from '../../../stores/audit.ts';
import { MarkdownView } from '../../../components/markdown/markdown-view.tsx';
import type { GuardFinding } from '../../../../shared/contract/moderation.ts';
import { formatDuration, formatPlural } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { SentFile } from '../../../components/files/sent-file.tsx';
import { filesIn, hasSeveralRoles, roleTitles, type SentMessage } from '../../../components/sent-messages.ts';
import { CallList } from '../../../components/tool-calls/call-list.tsx';
import { useToolCallChecks } from '../../../queries/runs.ts';
import type { ToolCall } from '../../../../shared/contract/tools.ts';
import { type Message, textOfMessage } from '../../../../shared/contract/messages.ts';
import { resultsIn, toolCallsIn } from '../../../stores/tool-steps.ts';

function verdictOf({ categories, categoryScores, failure }: GuardFinding): string {
  if (failure !== null) return `Not checked: ${failure}`;
  if (categories.length === 0) return 'Not flagged';
  return `Flagged: ${categories.map((each) => `${each} ${categoryScores?.[each].toFixed(2) ?? ''}`.trim()).join(', ')}`;
}

function Side({ name, finding }: { name: string; finding: GuardFinding | null }) {
  if (finding === null) return null;
  const isFlagged = finding.categories.length > 0;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span className={isFlagged ? 'row negative' : 'row'}>
          {isFlagged && <Icon icon={Flag} size="small" />}
          {verdictOf(finding)}
        </span>
        <span className="caption tertiary">
          {finding.model} in {formatDuration(finding.milliseconds)}
        </span>
        {finding.withheld !== null && (
          <details>
            <summary className="small">Withheld from the caller</summary>
            <p className="turn__text">{finding.withheld}</p>
          </details>
        )}
      </dd>
    </div>
  );
}

/** The guard's findings; nothing if it didn't check the run. */
function RunModerationPart({ run }: { run: ConversationRun }) {
  if (!run.moderation) return null;
  return (
    <article className="turn">
      <h3>Guard</h3>
      <dl className="turn__pairs">
        <Side name="Prompt" finding={run.moderation.prompt} />
        <Side name="Answer" finding={run.moderation.answer} />
      </dl>
    </article>
  );
}

const remedies: Record<string, { label: string; page: SettingsPageId }> = {
  provider_key_refused: { label: 'Replace API key', page: 'providers' },
  provider_not_configured: { label: 'Set up provider', page: 'providers' },
  model_not_installed: { label: 'Download model', page: 'on-device' },
  credits_exhausted: { label: 'Open API keys', page: 'api-keys' },
};

function RunFailure({ run }: { run: ConversationRun }) {
  const [, navigate] = useLocation();
  const { error } = run.output;
  if (!error) return null;
  const remedy = remedies[error.code];
  return (
    <Failure title="Run failed" reason={`${error.message} (${error.code})`}>
      {remedy && (
        <Button onClick={() => navigate(remedyAddress(error.code, run) ?? settingsAddress(remedy.page))}>
          {remedy.label}
        </Button>
      )}
      <Button variant={remedy ? 'quiet' : 'default'} onClick={() => navigate(runAddress(run.conversationRunId))}>
        Open in playground
      </Button>
    </Failure>
  );
}

const endWords: Record<string, string> = {
  Length: 'The answer reached the output token limit.',
  ContentFilter: "The provider's content filter ended the answer.",
};

function reasoningTokens({ usage, status }: ConversationRun): string | null {
  const tokens = usage?.details?.reasoning_tokens ?? null;
  if (tokens === null) return status === 'Running' ? null : 'tokens not reported';
  return formatPlural(tokens, 'token');
}

/** The calls of an answer, checked against the schemas of their tools. */
function Calls({ run, calls }: { run: ConversationRun; calls: readonly ToolCall[] }) {
  const { data } = useToolCallChecks(run.status === 'Running' ? null : run.conversationRunId);
  return <CallList calls={calls} checks={data} isGrowing={run.status !== 'Completed'} />;
}

function Answer({ run }: { run: ConversationRun }) {
  const { content, toolCalls = [], reasoning, finishReason } = run.output;
  const view = useAuditViewState((state) => state.answerView);
  const blocked = blockedWords(run);
  const end = blocked ?? endWords[finishReason ?? ''];
  return (
    <article className="turn">
      <h3>Answer</h3>
      <div className="turn__body">
        {reasoning && (
          <details className="turn__reasoning">
            <summary className="small secondary">
              Reasoning <span className="tertiary">{reasoningTokens(run)}</span>
            </summary>
            <p className="reasoning">{reasoning}</p>
          </details>
        )}
        {content !== '' && view === 'markdown' && <MarkdownView text={content} isGrowing={false} />}
        {content !== '' && view === 'plain' && <p className="turn__text">{content}</p>}
        {toolCalls.length > 0 && <Calls run={run} calls={toolCalls} />}
        {content === '' && toolCalls.length === 0 && run.status === 'Completed' && !blocked && (
          <p className="tertiary">The model returned no text.</p>
        )}
        {run.status === 'Running' && <p className="tertiary">The run is in progress.</p>}
        {run.status === 'Cancelled' && <p className="small secondary">Stopped. Partial answer kept.</p>}
        {end && <Notice tone="caution">{end}</Notice>}
        {run.warnings.map(({ message }) => (
          <Notice key={message} tone="caution">
            {message}
          </Notice>
        ))}
        <RunFailure run={run} />
      </div>
    </article>
  );
}

function Turn({ title, text, files }: { title: string } & Pick<SentMessage, 'text' | 'files'>) {
  return (
    <article className="turn">
      <h3>{title}</h3>
      <div className="turn__body">
        {text !== '' && <p className="turn__text">{text}</p>}
        {files?.map(({ offset, file }) => (
          <SentFile key={`${offset}/${file.fileId}`} file={file} />
        ))}
      </div>
    </article>
  );
}

/** A message that called tools, with the results that the next message has. */
function CallTurn({ message, next }: { message: Message; next: Message | undefined }) {
  const text = textOfMessage(message);
  return (
    <article className="turn">
      <h3>{roleTitles[message.role]}</h3>
      <div className="turn__body">
        {text !== '' && <p className="turn__text">{text}</p>}
        <CallList calls={toolCallsIn(message)} results={resultsIn(next)} />
      </div>
    </article>
  );
}

/** The passages that grounded an answer, each with its source. */
export function Passages({ run }: { run: ConversationRun }) {
  if (run.citations.length === 0) return <p className="turn tertiary">This run used no passages.</p>;
  return run.citations.map((citation) => (
    <article key={citation.index} className="turn turn--note">
      <h3>Passage {citation.index}</h3>
      <p>
        <span className="secondary">
          {citation.sourceName}
          {citation.page !== undefined && `, page ${citation.page}`}, relevance {citation.relevance.toFixed(2)}.
        </span>{' '}
        {citation.text}
      </p>
    </article>
  ));
}

/** The messages as they were sent, with their roles. A single user message is shown as the input. */
function Messages({ run: { input } }: { run: ConversationRun }) {
  const { systemMessage, messages } = input;
  const isPlain = messages.length === 0 || !hasSeveralRoles(messages);
  return (
    <>
      {systemMessage && <Turn title={roleTitles.system} text={systemMessage} />}
      {messages.map((message, index) => {
        const calls = toolCallsIn(message);
        if (calls.length > 0) return <CallTurn key={index} message={message} next={messages[index + 1]} />;
        // The results are below their calls.
        if (message.role === 'tool' && toolCallsIn(messages[index - 1]).length > 0) return null;
        const title = isPlain && message.role === 'user' ? 'Input' : roleTitles[message.role];
        return <Turn key={index} title={title} text={textOfMessage(message)} files={filesIn(message)} />;
      })}
      {input.messages.length === 0 && <Turn title="Input" text={input.renderedPrompt} />}
    </>
  );
}

/** The conversation view: system message, input as it was sent, answer, passages. */
export function ConversationPart({ run }: { run: ConversationRun }) {
  return (
    <>
      <Messages run={run} />
      <Answer run={run} />
      <RunModerationPart run={run} />
      {run.citations.length > 0 && <Passages run={run} />}
    </>
  );
}

/** The calls of the messages and of the answer. */
export function countToolCalls({ input, output }: ConversationRun): number {
  const earlier = input.messages.reduce((count, message) => count + toolCallsIn(message).length, 0);
  return earlier + (output.toolCalls?.length ?? 0);
}

/** Only the tool calls, with their results. */
export function ToolCallsPart({ run }: { run: ConversationRun }) {
  const { messages } = run.input;
  const calls = run.output.toolCalls ?? [];
  return (
    <>
      {messages.map(
        (message, index) =>
          toolCallsIn(message).length > 0 && <CallTurn key={index} message={message} next={messages[index + 1]} />,
      )}
      {calls.length > 0 && (
        <article className="turn">
          <h3>Answer</h3>
          <div className="turn__body">
            <Calls run={run} calls={calls} />
          </div>
        </article>
      )}
    </>
  );
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** The template view: the template, its values and the rendered prompt. */
export function PromptPart({ run }: { run: ConversationRun }) {
  const { input } = run;
  const replacements = Object.entries(input.replacements ?? {});
  return (
    <>
      {input.systemMessage && <Turn title="System" text={input.systemMessage} />}
      <article className="turn">
        <h3>Template</h3>
        <pre className="turn__code mono">{input.promptText}</pre>
      </article>
      {replacements.length > 0 && (
        <article className="turn">
          <h3>Variables</h3>
          <dl className="turn__pairs">
            {replacements.map(([name, value]) => (
              <div key={name}>
                <dt className="mono">{name}</dt>
                <dd className="turn__text">{asText(value)}</dd>
              </div>
            ))}
          </dl>
        </article>
      )}
      <article className="turn">
        <h3>Rendered</h3>
        <pre className="turn__code mono">{input.renderedPrompt}</pre>
      </article>
    </>
  );
}
