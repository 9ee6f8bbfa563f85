import { useQueryClient } from '@tanstack/react-query';
import { FileSearch, Play, Square, SquareTerminal } from 'lucide-react';
import { useMemo, type KeyboardEvent } from 'react';
import { Link, useLocation } from 'wouter';
import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import { parseTemplate } from '../../../shared/prompt-template.ts';
import { Button, CopyButton } from '../../components/button.tsx';
import { tokensText } from '../../components/format.ts';
import { Badge, Spinner } from '../../components/badges.tsx';
import { Icon } from '../../components/icon.tsx';
import { ErrorFailure, Notice } from '../../components/state-panels.tsx';
import { useHost } from '../../host/host-context.tsx';
import { promptUsageKey } from '../../queries/prompt-details.ts';
import { runsKey } from '../../queries/runs.ts';
import { versionDraftAddress } from '../../shell/addresses.ts';
import { useActions } from '../../stores/actions.ts';
import { stopRun, useLiveRuns, type VersionRun } from '../../stores/live-runs.ts';
import { promptSlot, setRunValue, startVersionRun, useRunValues } from '../../stores/prompts.ts';
import { isActive } from '../../stores/run-stream.ts';
import { auditAddress } from '../../shell/audit-address.ts';
import { MarkdownView } from '../../components/markdown/markdown-view.tsx';
import { readFields, readReplacements, type VariableField } from '../../drafts/variable-model.ts';
import { classNames } from '../../components/class-names.ts';

const noValues = {};

/** The fields of a version with the typed values, and the values to send, where an empty field has its default. */
function useRunFields(version: PromptVersion) {
  const typed = useRunValues(({ values }) => values[version.promptId] ?? noValues) as Record<string, string>;
  const variables = useMemo(() => parseTemplate(version.promptText).variables, [version.promptText]);
  const known = new Map(version.variables.map((variable) => [variable.name, variable]));
  const values = Object.fromEntries(
    variables.map(({ name }) => [
      name,
      Object.hasOwn(typed, name) ? (typed[name] ?? '') : (known.get(name)?.sampleValue ?? ''),
    ]),
  );
  const fields = readFields(variables, { values, jsonNames: [] });
  const rows = fields.map((field) => {
    const { description = null, defaultValue = null } = known.get(field.name) ?? {};
    return { field, description, defaultValue };
  });
  const sent = rows.map(({ field, defaultValue }) => [field.name, field.isFilled ? field.text : (defaultValue ?? '')]);
  const replacements = readReplacements(readFields(variables, { values: Object.fromEntries(sent), jsonNames: [] }));
  return { rows, replacements };
}

/** An example for a JSON field: a list with the fields that the template uses, or an object. */
function jsonExample({ kind, itemFields }: VariableField): string {
  if (kind === 'file') return '{"fileId": "..."}';
  if (kind === 'files') return '[{"fileId": "..."}]';
  if (kind !== 'list') return '{"name": "Mara"}';
  const item = itemFields.map((name) => `"${name}": "..."`).join(', ');
  return item === '' ? '["a", "b"]' : `[{${item}}]`;
}

type Row = ReturnType<typeof useRunFields>['rows'][number];

function Field({ row, promptId }: { row: Row; promptId: string }) {
  const { field, description, defaultValue } = row;
  const id = `run-${field.name}`;
  const note = field.problem ?? description;
  return (
    <div className="labelled">
      <label htmlFor={id} className="row">
        <span className="mono--small">{field.name}</span>
        {field.isJson && <Badge isOutlined>JSON</Badge>}
      </label>
      <div className={classNames('field field--area', field.problem && 'is-invalid')}>
        <textarea
          id={id}
          rows={field.isJson ? 4 : 1}
          className={field.isJson ? 'mono' : undefined}
          spellCheck={false}
          placeholder={defaultValue ?? (field.isJson ? jsonExample(field) : 'Empty')}
          aria-invalid={field.problem ? true : undefined}
          aria-describedby={note === null ? undefined : `${id}-note`}
          value={field.text}
          onChange={(event) => setRunValue(promptId, field.name, event.target.value)}
        />
      </div>
      {note !== null && (
        <p id={`${id}-note`} className={classNames('caption', field.problem ? 'negative' : 'tertiary')}>
          {note}
        </p>
      )}
    </div>
  );
}

function AnswerFoot({ run }: { run: VersionRun }) {
  const { conversationId, runId, usage, text } = run;
  if (conversationId === null || runId === null) return null;
  const href = auditAddress({ filter: {}, sort: 'newest', conversationId, runId });
  return (
    <div className="prompts__answer-foot row small tertiary">
      <Link href={href} className="link row">
        <Icon icon={FileSearch} size="small" />
        Open in audit
      </Link>
      {usage && <span className="numbers">{tokensText(usage)}</span>}
      <span className="grow" />
      <CopyButton text={text} label="Copy answer" isIconOnly size="small" />
    </div>
  );
}

function Answer({ run, runAgain }: { run: VersionRun; runAgain: () => void }) {
  if (isActive(run)) {
    return (
      <p className="row small accent" role="status">
        <Spinner />
        Running. The answer appears when it is complete.
      </p>
    );
  }
  if (run.state === 'failed') {
    return (
      <ErrorFailure title="Run failed" error={run.error}>
        <Button onClick={runAgain}>Run again</Button>
      </ErrorFailure>
    );
  }
  if (run.state === 'stopped') {
    return (
      <p className="row small secondary" role="status">
        <Icon icon={Square} size="small" />
        Stopped. The run is in the audit.
      </p>
    );
  }
  return (
    <>
      {run.warnings.map(({ message }) => (
        <Notice key={message} tone="caution">
          {message}
        </Notice>
      ))}
      {run.text === '' ? (
        <p className="tertiary">The model returned no text.</p>
      ) : (
        <MarkdownView key={run.key} text={run.text} isGrowing={false} />
      )}
      <AnswerFoot run={run} />
    </>
  );
}

function useRunActions(
  { isRunning, canRun }: { isRunning: boolean; canRun: boolean },
  run: () => void,
  stop: () => void,
): void {
  const group = 'Prompts';
  useActions('prompt-run', [
    { id: 'prompts.send', title: 'Run this version', group, icon: Play, keys: 'Mod+Enter', isEnabled: canRun, run },
    {
      id: 'prompts.stop',
      title: 'Stop run',
      group,
      icon: Square,
      keys: 'Escape',
      worksWhileTyping: true,
      isEnabled: isRunning,
      run: stop,
    },
  ]);
}

/** The newest run of the prompt, if it is one of this version, and how to start and stop one. */
function useVersionRun(version: PromptVersion, replacements: Record<string, unknown>) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const slot = promptSlot(version.promptId);
  const newest = useLiveRuns(({ runs }) => runs[slot]);
  const run = async (): Promise<void> => {
    await startVersionRun(client, version, replacements);
    await Promise.all([promptUsageKey, runsKey].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
  };
  return {
    shown: newest?.versionId === version.id ? newest : undefined,
    isRunning: isActive(newest),
    run: () => void run(),
    stop: () => stopRun(slot),
  };
}

/** Runs a version as an API call does: values in, one answer out, recorded under the version. */
export function RunView({ version }: { version: PromptVersion }) {
  const [, navigate] = useLocation();
  const { rows, replacements } = useRunFields(version);
  const isInvalid = rows.some(({ field }) => field.problem !== null);
  const { shown, isRunning, run, stop } = useVersionRun(version, replacements);
  const canRun = !isRunning && !isInvalid;
  useRunActions({ isRunning, canRun }, run, stop);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !canRun) return;
    event.preventDefault();
    run();
  };
  return (
    <div className="scroll prompts__version prompts__run" role="region" aria-label="Run this version" tabIndex={0}>
      <form
        className="prompts__form"
        aria-label="Variables"
        onKeyDown={onKeyDown}
        onSubmit={(event) => {
          event.preventDefault();
          if (canRun) run();
        }}
      >
        {rows.map((row) => (
          <Field key={row.field.name} row={row} promptId={version.promptId} />
        ))}
        {rows.length === 0 && <p className="small tertiary">This version has no variables.</p>}
        <div className="row">
          {isRunning ? (
            <Button variant="primary" icon={Square} keys="Escape" onClick={stop}>
              Stop
            </Button>
          ) : (
            <Button type="submit" variant="primary" icon={Play} keys="Mod+Enter" aria-disabled={isInvalid || undefined}>
              Run version {version.number}
            </Button>
          )}
          <Button
            variant="quiet"
            icon={SquareTerminal}
            onClick={() => navigate(versionDraftAddress(version.promptId, version.id))}
          >
            Open in playground
          </Button>
        </div>
      </form>
      {shown && (
        <section className="prompts__answer" aria-label="Answer">
          <Answer run={shown} runAgain={run} />
        </section>
      )}
    </div>
  );
}
