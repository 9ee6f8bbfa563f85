import { Link } from 'wouter';
import type { ReactNode } from 'react';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import { formatPlural, formatTime, formatWhole } from '../../../components/format.ts';
import { EmptyState, QueryView } from '../../../components/state-panels.tsx';
import { useComparisonFields, useComparisonTrend } from '../../../queries/comparison-results.ts';
import { comparisonAddress } from '../../../shell/addresses.ts';
import { letterOf } from './cell-model.ts';

function Scrolling({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="scroll result-charts" tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}

/** How many JSON answers of each variant have the expected value of a field. */
export function FieldTable({ comparison }: { comparison: Comparison }) {
  const fields = useComparisonFields(comparison);
  return (
    <Scrolling label="Fields">
      <QueryView query={fields} subject="the fields">
        {({ rows, isComplete, fields: found }) =>
          found.length === 0 ? (
            <EmptyState
              title="No fields to compare"
              reason='Give the rows an expected JSON object: a column of the type expected, such as {"months": 3}.'
            />
          ) : (
            <>
              <p className="caption tertiary result-charts__note">
                Answers with the expected value, in {formatPlural(rows, 'row')} with an expected object
                {!isComplete && '; the first 20,000 answers'}
              </p>
              <table className="result-table">
                <thead>
                  <tr>
                    <th scope="col">Field</th>
                    {comparison.variants.map(({ name }, index) => (
                      <th key={name} scope="col">
                        <span className="column-letter">{letterOf(index)}</span> {name}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {found.map(({ name, variants }) => (
                    <tr key={name}>
                      <th scope="row" className="mono">
                        {name}
                      </th>
                      {variants.map(({ agreeing, answers }, index) => (
                        <td key={index} className={agreeing < answers ? undefined : 'tertiary'}>
                          {formatWhole(agreeing)} of {formatWhole(answers)}
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </>
          )
        }
      </QueryView>
    </Scrolling>
  );
}

const measures = [
  ['passRate', 'Pass rate'],
  ['score', 'Score'],
  ['cost', 'Cost'],
  ['latency', 'Latency'],
] as const;

/** What has changed since the comparison that this one repeats. */
export function TrendTable({ comparison }: { comparison: Comparison }) {
  const trend = useComparisonTrend(comparison);
  return (
    <Scrolling label="Trend">
      <QueryView query={trend} subject="the trend">
        {({ earlier, sharedRows, variants }) =>
          earlier === null ? (
            <EmptyState title="No earlier comparison" reason="The comparison that this one repeats was deleted." />
          ) : variants.length === 0 || sharedRows === 0 ? (
            <EmptyState
              title="Nothing to compare"
              reason={`"${earlier.name}" has ${sharedRows === 0 ? 'no row' : 'no variant'} in common with this comparison.`}
            />
          ) : (
            <>
              <p className="small result-charts__note">
                Against{' '}
                <Link className="link" href={comparisonAddress(earlier.id)}>
                  {earlier.name}
                </Link>
                {earlier.completedAt && <span className="tertiary">, {formatTime(earlier.completedAt)}</span>}
                <span className="tertiary">, paired by {formatPlural(sharedRows, 'row')} that both have</span>
              </p>
              {variants.map(({ name, differences }) => (
                <section key={name} className="result-chart" aria-label={name}>
                  <div className="header">
                    <h3>{name}</h3>
                  </div>
                  <dl className="result-trend">
                    {measures.map(([measure, title]) =>
                      differences[measure].rows === 0 ? null : (
                        <div key={measure}>
                          <dt>{title}</dt>
                          <dd>{differences[measure].sentence}</dd>
                        </div>
                      ),
                    )}
                  </dl>
                </section>
              ))}
            </>
          )
        }
      </QueryView>
    </Scrolling>
  );
}
