import { Check } from 'lucide-react';
import type { RefObject } from 'react';
import { Badge } from '../../../components/badges.tsx';
import { formatPlural } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { faultText, JsonTree, useJsonOutline } from '../../../components/json-tree/json-tree.tsx';
import { LongText } from '../../../components/long-text.tsx';
import { Notice } from '../../../components/state-panels.tsx';
import { useAnswerCheck } from '../../../queries/runs.ts';
import type { ShownRun } from './shown-run.ts';

/** The check of an answer that was to follow a schema; undefined for others and until it has come. */
function useCheck(run: ShownRun) {
  const isChecked = run.json === 'schema' && run.state === 'completed';
  return useAnswerCheck(isChecked ? run.runId : null).data;
}

/** Whether the answer follows its schema. */
export function SchemaBadge({ run }: { run: ShownRun }) {
  const check = useCheck(run);
  if (!check) return null;
  if (check.outcome === 'valid') {
    return (
      <span className="row small positive nowrap">
        <Icon icon={Check} size="small" />
        Matches schema
      </span>
    );
  }
  if (check.outcome === 'invalid')
    return <Badge tone="negative">{formatPlural(check.errorCount, 'schema error')}</Badge>;
  if (check.outcome === 'not-json') return <Badge tone="negative">Not valid JSON</Badge>;
  return check.reason === null ? null : <Badge tone="caution">Schema not checked</Badge>;
}

/** An answer in JSON as a tree, also while it streams. What is no valid JSON is shown as it came. */
export function JsonAnswer({ run, scroller }: { run: ShownRun; scroller: RefObject<HTMLElement | null> }) {
  const outline = useJsonOutline(run.text, run.state !== 'completed');
  const check = useCheck(run);
  if (outline.fault) {
    return (
      <>
        <Notice tone="caution">{faultText('the answer', run.text, outline.fault)}</Notice>
        <LongText className={run.state === 'streaming' ? 'plain is-growing' : 'plain'} text={run.text} />
      </>
    );
  }
  return (
    <>
      {check && check.reason !== null && <Notice tone="caution">{check.reason}</Notice>}
      {check && check.errorCount > check.errors.length && (
        <Notice tone="caution">
          The first {check.errors.length} of {check.errorCount.toLocaleString('en')} schema errors are shown
        </Notice>
      )}
      <JsonTree label="Answer as a tree" outline={outline} scroller={scroller} errors={check?.errors} />
    </>
  );
}
