import { useQueryClient } from '@tanstack/react-query';
import { FileSearch, Play, Square, SquareTerminal } from 'lucide-react';
import { useMemo, type KeyboardEvent } from 'react';
import { Link, useLocation } from 'wouter';
import type { MessageAnswer } from '../../../shared/contract/prompt-runs.ts';
import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import { parseTemplate } from '../../../shared/prompt-template.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { formatCount } from '../../components/format.ts';
import { Spinner } from '../../components/marks.tsx';
import { Icon } from '../../components/icon.tsx';
import { ErrorFailure, Notice } from '../../components/state-panels.tsx';
import { useHost } from '../../host/host-context.tsx';
import { promptUsageKey } from '../../queries/prompt-usage.ts';
import { runsKey } from '../../queries/runs.ts';
import { versionDraftAddress } from '../../shell/addresses.ts';
import { useActions } from '../../stores/actions.ts';
import { usePromptRuns, type PromptRun } from '../../stores/prompt-runs.ts';
import { auditAddress } from '../../shell/audit-address.ts';
import { MarkdownView } from '../../components/markdown/markdown-view.tsx';
import { readFields } from '../../drafts/variable-model.ts';

const noValues = {};

/** The fields of a version: what was typed here, and what stands in an empty one. */
function useRunFields(version: PromptVersion) {
  const typed = usePromptRuns(({ values }) => values[version.promptId] ?? noValues) as Record<string, string>;
  const { fields, lists } = useMemo(() => {
    const all = readFields(parseTemplate(version.promptText).variables, { values: {}, jsonNames: [] });
    return { fields: all.filter(({ isJson }) => !isJson), lists: all.filter(({ isJson }) => isJson) };
  }, [version.promptText]);
  const facts = new Map(version.variables.map((variable) => [variable.name, variable]));
  const rows = fields.map(({ name }) => {
    const known = facts.get(name);
    const text = Object.hasOwn(typed, name) ? (typed[name] ?? '') : (known?.sampleValue ?? '');
    return { name, text, description: known?.description ?? null, defaultValue: known?.defaultValue ?? null };
  });
  // An empty field is left out, so that the version's own default takes its place.
  const replacements = Object.fromEntries(rows.filter(({ text }) => text !== '').map(({ name, text }) => [name, text]));
  return { rows, lists, replacements };
}

type Row = ReturnType<typeof useRunFields>['rows'][number];

function Field({ row, promptId }: { row: Row; promptId: string }) {
  const id = `run-${row.name}`;
  return (
    <div className="labelled">
      <label htmlFor={id} className="mono--small">
        {row.name}
      </label>
      <div className="field field--area">
        <textarea
          id={id}
          rows={1}
          spellCheck={false}
          placeholder={row.defaultValue ?? 'Empty'}
          aria-describedby={row.description === null ? undefined : `${id}-note`}
          value={row.text}
          onChange={(event) => usePromptRuns.getState().fill(promptId, row.name, event.target.value)}
        />
      </div>
      {row.description !== null && (
        <p id={`${id}-note`} className="caption tertiary">
          {row.description}
        </p>
      )}
    </div>
  );
}

function AnswerFoot({ answer }: { answer: MessageAnswer }) {
  const { conversationId, runId, usage } = answer;
  const href = auditAddress({ filter: {}, sort: 'newest', conversationId, runId });
  return (
    <div className="prompts__answer-foot row small tertiary">
      <Link href={href} className="link row">
        <Icon icon={FileSearch} size="small" />
        Open the run in the audit
      </Link>
      <span className="numbers">
        {formatCount(usage.prompt_tokens)} + {formatCount(usage.completion_tokens)} tokens
      </span>
      <span className="grow" />
      <CopyButton text={answer.message} label="Copy answer" isIconOnly size="small" />
    </div>
  );
}

function Answer({ run, runAgain }: { run: PromptRun; runAgain: () => void }) {
  if (run.state === 'running') {
    return (
      <p className="row small accent" role="status">
        <Spinner />
        Running. The answer comes as a whole, as a program gets it.
      </p>
    );
  }
  if (run.state === 'failed') {
    return (
      <ErrorFailure title="The run failed" error={run.error}>
        <Button onClick={runAgain}>Run again</Button>
      </ErrorFailure>
    );
  }
  if (run.answer === null) {
    return (
      <p className="row small secondary" role="status">
        <Icon icon={Square} size="small" />
        Stopped. The run is kept in the audit.
      </p>
    );
  }
  return (
    <>
      {run.answer.warnings?.map(({ message }) => (
        <Notice key={message} tone="caution">
          {message}
        </Notice>
      ))}
      {run.answer.message === '' ? (
        <p className="tertiary">The model answered with no text.</p>
      ) : (
        <MarkdownView key={run.answer.runId} text={run.answer.message} isGrowing={false} />
      )}
      <AnswerFoot answer={run.answer} />
    </>
  );
}

function useRunActions(isRunning: boolean, run: () => void, stop: () => void): void {
  const group = 'Prompts';
  useActions('prompt-run', [
    { id: 'prompts.send', title: 'Run this version', group, icon: Play, keys: 'Mod+Enter', isEnabled: !isRunning, run },
    {
      id: 'prompts.stop',
      title: 'Stop the run',
      group,
      icon: Square,
      keys: 'Escape',
      worksWhileTyping: true,
      isEnabled: isRunning,
      run: stop,
    },
  ]);
}

/** Runs a version as a program does: texts for its variables in, one answer out, recorded under the version. */
export function RunView({ version }: { version: PromptVersion }) {
  const { client } = useHost();
  const [, navigate] = useLocation();
  const { rows, lists, replacements } = useRunFields(version);
  const newest = usePromptRuns(({ runs }) => runs[version.promptId]);
  const shown = newest?.versionId === version.id ? newest : undefined;
  const isRunning = newest?.state === 'running';
  const queryClient = useQueryClient();
  const { start, stop } = usePromptRuns.getState();
  const run = async (): Promise<void> => {
    await start(client, { promptId: version.promptId, promptVersionId: version.id, replacements });
    await Promise.all([promptUsageKey, runsKey].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
  };
  const stopRun = (): void => stop(version.promptId);
  useRunActions(isRunning, () => void run(), stopRun);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || isRunning) return;
    event.preventDefault();
    void run();
  };
  return (
    <div className="scroll prompts__version prompts__run" role="region" aria-label="Run this version" tabIndex={0}>
      {lists.length > 0 && (
        <Notice tone="caution">
          {lists.map(({ name }) => name).join(', ')} must be a list or an object; a stored prompt takes texts only.{' '}
          <Link className="link" href={versionDraftAddress(version.promptId, version.id)}>
            Fill it in the playground
          </Link>
        </Notice>
      )}
      <form
        className="prompts__form"
        aria-label="Variables"
        onKeyDown={onKeyDown}
        onSubmit={(event) => {
          event.preventDefault();
          if (!isRunning) void run();
        }}
      >
        {rows.map((row) => (
          <Field key={row.name} row={row} promptId={version.promptId} />
        ))}
        {rows.length === 0 && lists.length === 0 && <p className="small tertiary">This version has no variables.</p>}
        <div className="row">
          {isRunning ? (
            <Button variant="primary" icon={Square} keys="Escape" onClick={stopRun}>
              Stop
            </Button>
          ) : (
            <Button type="submit" variant="primary" icon={Play} keys="Mod+Enter">
              Run version {version.number}
            </Button>
          )}
          <Button
            variant="quiet"
            icon={SquareTerminal}
            onClick={() => navigate(versionDraftAddress(version.promptId, version.id))}
          >
            Open in the playground
          </Button>
        </div>
      </form>
      {shown && (
        <section className="prompts__answer" aria-label="Answer">
          <Answer run={shown} runAgain={() => void run()} />
        </section>
      )}
    </div>
  );
}
