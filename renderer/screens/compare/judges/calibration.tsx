import type { Judge, JudgeCalibration, JudgeLabel } from '../../../../shared/contract/judges.ts';
import { Button } from '../../../components/button.tsx';
import { formatPlural } from '../../../components/format.ts';
import { describeError, Notice, QueryView } from '../../../components/state-panels.tsx';
import { useCalibrate, useJudgeLabels } from '../../../queries/judges.ts';
import { LabelQueue } from './label-queue.tsx';
import { PairLabels } from './pair-labels.tsx';

type Agreement = NonNullable<JudgeCalibration['heldOut']>;

const percent = (share: number) => Math.round(share * 100);

function Matrix({ labels, matrix }: Pick<Agreement, 'labels' | 'matrix'>) {
  return (
    <table className="judges__matrix numbers">
      <caption className="caption tertiary">Labels by hand in rows, the judge in columns</caption>
      <thead>
        <tr>
          <td />
          {labels.map((label) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {matrix.map((counts, row) => (
          <tr key={labels[row]}>
            <th scope="row">{labels[row]}</th>
            {counts.map((count, column) => (
              <td key={column} className={row === column ? 'is-same' : undefined}>
                {count}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface HalfProps {
  title: string;
  note: string;
  agreement: Agreement | null;
  what: 'answer' | 'pair';
}

function Half({ title, note, agreement, what }: HalfProps) {
  return (
    <section className="judges__part" aria-label={title}>
      <div>
        <h4 className="strong">{title}</h4>
        <p className="caption tertiary">{note}</p>
      </div>
      {agreement ? (
        <>
          <p className="small">
            Agrees on {Math.round(agreement.share * agreement.rows)} of {formatPlural(agreement.rows, what)}:{' '}
            {percent(agreement.share)} % (95 %: {percent(agreement.shareInterval[0])} to{' '}
            {percent(agreement.shareInterval[1])})
          </p>
          <Matrix labels={agreement.labels} matrix={agreement.matrix} />
          {what === 'pair' && <p className="caption tertiary">Which answer is first is random for each pair.</p>}
        </>
      ) : (
        <p className="small tertiary">No verdicts yet</p>
      )}
    </section>
  );
}

function Agreements({ judge, labels }: { judge: Judge; labels: readonly JudgeLabel[] }) {
  const { calibration } = judge;
  const calibrate = useCalibrate(judge.id);
  const isPairs = judge.verdict.kind === 'preference';
  const what = isPairs ? 'pair' : 'answer';
  const stale = labels.filter(({ isStale }) => isStale).length;
  return (
    <>
      <p className={calibration.isCalibrated ? 'positive' : 'secondary'}>
        {calibration.isCalibrated ? 'Calibrated. ' : 'Not calibrated: verdicts decide nothing. '}
        {calibration.sentence}
      </p>
      {stale > 0 && (
        <Notice tone="caution">
          {formatPlural(stale, 'verdict')} of an earlier version of the judge. Judge again.
        </Notice>
      )}
      {calibrate.error && <Notice tone="negative">{describeError(calibrate.error).message}</Notice>}
      {calibration.withoutVerdict > 0 && (
        <div className="row">
          <Button variant="primary" isBusy={calibrate.isPending} onClick={() => calibrate.mutate()}>
            {stale > 0 ? 'Judge again' : `Judge the labelled ${isPairs ? 'pairs' : 'answers'}`}
          </Button>
          <span className="caption tertiary">
            {formatPlural(calibration.withoutVerdict * (isPairs ? 2 : 1), 'run')} of the judge
            {isPairs && ', two a pair'}
          </span>
        </div>
      )}
      <div className="judges__halves">
        <Half title="Tuning half" note="To improve the prompt with" agreement={calibration.tuning} what={what} />
        <Half title="Held-out half" note="Only to measure; decides" agreement={calibration.heldOut} what={what} />
      </div>
    </>
  );
}

/** How far the judge agrees with people, and the answers to label. */
export function Calibration({ judge }: { judge: Judge }) {
  const labels = useJudgeLabels(judge.id);
  const isPairs = judge.verdict.kind === 'preference';
  return (
    <section className="judges__part" aria-label="Calibration">
      <h3 className="section-title">Calibration</h3>
      <QueryView query={labels} subject="the labels">
        {(all) => (
          <>
            <Agreements judge={judge} labels={all} />
            <h3 className="section-title">
              Label {isPairs ? 'pairs' : 'answers'}: {formatPlural(all.length, 'label')} so far, 30 to 50 are enough
            </h3>
            {isPairs ? <PairLabels judge={judge} labels={all} /> : <LabelQueue judge={judge} labels={all} />}
          </>
        )}
      </QueryView>
    </section>
  );
}
