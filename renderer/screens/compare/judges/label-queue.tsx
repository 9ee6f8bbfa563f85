import { useState } from 'react';
import type { Judge, JudgeLabel } from '../../../../shared/contract/judges.ts';
import { Button } from '../../../components/button.tsx';
import { MarkdownView } from '../../../components/markdown/markdown-view.tsx';
import { Select } from '../../../components/select.tsx';
import { Notice, QueryView } from '../../../components/state-panels.tsx';
import { useComparison, useComparisons } from '../../../queries/comparisons.ts';
import { useRunsToLabel, useSetLabel } from '../../../queries/judges.ts';
import { useRun } from '../../../queries/runs.ts';
import { useActions } from '../../../stores/actions.ts';

const audit = 'audit';

interface QueueProps {
  judge: Judge;
  runIds: readonly string[];
  labels: readonly JudgeLabel[];
}

function Answer({ run }: { run: ReturnType<typeof useRun> }) {
  return (
    <QueryView query={run} subject="the answer">
      {({ runId, input, output }) => (
        <>
          <details>
            <summary>Prompt</summary>
            <p className="judges__sent mono">{(input.renderedPrompt ?? input.promptText).slice(0, 20_000)}</p>
          </details>
          <div key={runId} className="judges__answer" tabIndex={0} role="region" aria-label="Answer to label">
            <MarkdownView text={output.content.slice(0, 200_000)} isGrowing={false} />
          </div>
        </>
      )}
    </QueryView>
  );
}

/** One answer after the other, without the verdict of the judge. */
function Queue({ judge, runIds, labels }: QueueProps) {
  const [skipped, setSkipped] = useState<readonly string[]>([]);
  const [done, setDone] = useState<readonly string[]>([]);
  // A label counts from its key on, so that the next key is for the next answer.
  const labelled = new Set([...labels.map(({ runId }) => runId), ...done]);
  const runId = runIds.find((id) => !labelled.has(id) && !skipped.includes(id)) ?? null;
  const run = useRun(runId);
  const setLabel = useSetLabel(judge.id);

  function label(value: 'pass' | 'fail') {
    if (runId === null) return;
    setDone((before) => [...before, runId]);
    // A toast shows the error, and the answer comes back.
    const failed = () => setDone((before) => before.filter((id) => id !== runId));
    setLabel.mutateAsync({ runId, label: value }).catch(failed);
  }
  function skip() {
    if (runId !== null) setSkipped([...skipped, runId]);
  }
  function undo() {
    const last = done.at(-1);
    if (last === undefined) return;
    setDone((before) => before.filter((id) => id !== last));
    const failed = () => setDone((before) => [...before, last]);
    setLabel.mutateAsync({ runId: last, label: null }).catch(failed);
  }
  const group = 'Labels';
  useActions('judge-labels', [
    { id: 'labels.pass', title: 'Label: pass', keys: 'P', group, run: () => label('pass') },
    { id: 'labels.fail', title: 'Label: fail', keys: 'F', group, run: () => label('fail') },
    { id: 'labels.skip', title: 'Skip the answer', keys: 'S', group, run: skip },
    { id: 'labels.undo', title: 'Undo the last label', keys: 'Mod+Z', group, run: undo },
  ]);

  if (runId === null) {
    return <p className="small secondary">No answers left to label here. Choose another source for more.</p>;
  }
  return (
    <>
      <Answer run={run} />
      <div className="row">
        <Button keys="P" onClick={() => label('pass')}>
          Pass
        </Button>
        <Button keys="F" onClick={() => label('fail')}>
          Fail
        </Button>
        <Button keys="S" onClick={skip}>
          Skip
        </Button>
        <Button keys="Mod+Z" aria-disabled={done.length === 0} onClick={undo}>
          Undo
        </Button>
        <span className="caption tertiary">The judge's verdict is hidden.</span>
      </div>
    </>
  );
}

/** Labels by hand, of answers of a comparison or of the audit. */
export function LabelQueue({ judge, labels }: { judge: Judge; labels: readonly JudgeLabel[] }) {
  const comparisons = useComparisons();
  const [source, setSource] = useState(audit);
  const comparisonId = source === audit ? null : source;
  const runs = useRunsToLabel(comparisonId);
  const warnings = useComparison(comparisonId).data?.warnings ?? [];
  const options = [
    { value: audit, label: 'Newest runs of the audit' },
    ...(comparisons.data ?? []).map(({ id, name }) => ({ value: id, label: name, group: 'Comparisons' })),
  ];
  return (
    <section className="judges__part" aria-label="Label answers">
      <Select label="Answers of" isLabelHidden={false} value={source} onValueChange={setSource} options={options} />
      {warnings.map((warning) => (
        <Notice key={warning} tone="caution">
          {warning}
        </Notice>
      ))}
      <QueryView query={runs} subject="the answers">
        {(runIds) => <Queue key={source} judge={judge} runIds={runIds} labels={labels} />}
      </QueryView>
    </section>
  );
}
