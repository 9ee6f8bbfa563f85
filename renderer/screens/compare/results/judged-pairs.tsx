import { Gavel } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import type { JudgedPairs as Found } from '../../../../shared/contract/judged-pairs.ts';
import type { Judge } from '../../../../shared/contract/judges.ts';
import { Button } from '../../../components/button.tsx';
import { formatPlural, formatWhole } from '../../../components/format.ts';
import { Select } from '../../../components/select.tsx';
import { describeError, Notice, QueryView } from '../../../components/state-panels.tsx';
import { useJudgedPairs } from '../../../queries/comparison-results.ts';
import { useJudgePairs } from '../../../queries/comparisons.ts';
import { comparisonVoteAddress, judgeAddress } from '../../../shell/addresses.ts';

/** `Judged in both orders: 38 of 40 pairs, 3 tied, 2 identical`. */
function countWords({ pairs, judged, ties, identical, missing, stale }: Found['counts']): string {
  const parts = [
    `Judged in both orders: ${formatWhole(judged)} of ${formatPlural(pairs, 'pair')}`,
    ties > 0 && `${formatWhole(ties)} tied`,
    identical > 0 && `${formatWhole(identical)} identical`,
    missing > 0 && `${formatWhole(missing)} without a verdict`,
    stale > 0 && `${formatWhole(stale)} from before the judge changed`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}

function Preference({ found, comparison }: { found: Found; comparison: Comparison }) {
  return (
    <>
      {found.warning !== null && <Notice tone="caution">{found.warning}</Notice>}
      {!found.isCalibrated && (
        <Notice tone="caution">
          {found.sentence}{' '}
          <Link className="link" href={judgeAddress(found.judgeId)}>
            Calibrate the judge
          </Link>
        </Notice>
      )}
      <div>
        {found.isCalibrated && <h3 className="section-title">{found.sentence}</h3>}
        <p className="small tertiary">
          {countWords(found.counts)}
          {found.probability !== null && `; sign test p = ${found.probability.toPrecision(2)}`}
        </p>
      </div>
      <table className="result-table">
        <thead>
          <tr>
            <th scope="col">Variant</th>
            <th scope="col">{found.isCalibrated ? 'Wins' : "Wins, don't count yet"}</th>
          </tr>
        </thead>
        <tbody>
          {found.variants.map(({ name, wins }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{formatWhole(wins)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {found.isCalibrated && (
        <p className="small">
          <span className="strong">Calibration</span> <span className="secondary">{found.calibration}</span>
        </p>
      )}
      <p className="small">
        <span className="strong">Agreement with people</span>{' '}
        <span className="secondary">
          {found.agreement.question !== null && `On “${found.agreement.question}”: `}
          {found.agreement.sentence}.
        </span>{' '}
        {found.agreement.agreement === null && (
          <Link className="link" href={comparisonVoteAddress(comparison.id)}>
            Start a blind vote
          </Link>
        )}
      </p>
    </>
  );
}

/** Asks the judge about the pairs that it has not judged as it is. */
function JudgeButton({ found, comparison }: { found: Found; comparison: Comparison }) {
  const judge = useJudgePairs();
  const open = found.counts.missing + found.counts.stale;
  const isRunning = comparison.state === 'Running';
  if (open === 0) return null;
  const variants = found.variants.map(({ name }) => name);
  return (
    <div className="row">
      <Button
        icon={Gavel}
        variant="primary"
        isBusy={judge.isPending}
        aria-disabled={isRunning}
        onClick={() => isRunning || judge.mutate({ id: comparison.id, judgeId: found.judgeId, variants })}
      >
        Judge {formatPlural(open, 'pair')}
      </Button>
      <span className="small tertiary">
        {isRunning ? 'The comparison is running.' : `${formatPlural(open * 2, 'run')} of the judge, two a pair.`}
      </span>
      {judge.error && <Notice tone="negative">{describeError(judge.error).message}</Notice>}
    </div>
  );
}

/** Which of two variants a judge of preferences prefers. */
export function JudgedPairs({ comparison, judges }: { comparison: Comparison; judges: readonly Judge[] }) {
  const names = comparison.variants.map(({ name }) => name);
  const [judgeId, setJudgeId] = useState(judges[0]!.id);
  const [first, setFirst] = useState(comparison.baseline);
  const [second, setSecond] = useState(names.find((name) => name !== comparison.baseline)!);
  const isReady = first !== second;
  const found = useJudgedPairs(comparison, isReady ? { judgeId, first, second } : null);
  const variants = names.map((name) => ({ value: name, label: name }));
  return (
    <div className="scroll result-charts judged-pairs" tabIndex={0} role="region" aria-label="Pairs">
      <div className="judged-pairs__choices">
        <Select
          label="Judge"
          isLabelHidden={false}
          value={judgeId}
          onValueChange={setJudgeId}
          options={judges.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <Select label="First variant" isLabelHidden={false} value={first} onValueChange={setFirst} options={variants} />
        <Select
          label="Second variant"
          isLabelHidden={false}
          value={second}
          onValueChange={setSecond}
          options={variants}
        />
      </div>
      {isReady ? (
        <QueryView query={found} subject="the pairs">
          {(data) => (
            <>
              <Preference found={data} comparison={comparison} />
              <JudgeButton found={data} comparison={comparison} />
            </>
          )}
        </QueryView>
      ) : (
        <Notice tone="caution">Choose two different variants.</Notice>
      )}
    </div>
  );
}
