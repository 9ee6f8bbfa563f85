import { classNames } from '../../../components/class-names.ts';
import { formatWhole } from '../../../components/format.ts';

export interface MatrixCell {
  readonly row: string;
  readonly column: string;
}

interface MatrixProps {
  labels: readonly string[];
  rows: readonly (readonly number[])[];
  /** Who is in rows and in columns. */
  names: readonly [string, string];
  textOf: (label: string) => string;
  selected: MatrixCell | null;
  onSelect: (cell: MatrixCell) => void;
}

interface CellProps {
  count: number;
  largest: number;
  isAgreed: boolean;
  isSelected: boolean;
  label: string;
  onSelect: () => void;
}

function Cell({ count, largest, isAgreed, isSelected, label, onSelect }: CellProps) {
  const states = [isAgreed && 'is-agreed', isSelected && 'is-selected', count === 0 && 'is-empty'];
  const style = { '--n': largest === 0 ? 0 : (count / largest) * 100 } as Record<string, number>;
  if (count === 0)
    return (
      <span className={classNames('matrix__cell', ...states)} style={style}>
        {formatWhole(count)}
      </span>
    );
  return (
    <button
      type="button"
      className={classNames('matrix__cell', ...states)}
      style={style}
      aria-label={`${label}: ${formatWhole(count)}`}
      aria-pressed={isSelected}
      onClick={onSelect}
    >
      {formatWhole(count)}
    </button>
  );
}

/** A few categories are all shown; of many, such as 21 scores, only those that occur. */
const maxUnusedLabels = 6;

interface HeadProps extends Pick<MatrixProps, 'names' | 'textOf'> {
  shown: readonly { readonly label: string }[];
}

function Head({ names: [first, second], shown, textOf }: HeadProps) {
  return (
    <thead>
      <tr>
        <td />
        <th colSpan={shown.length} scope="colgroup" className="matrix__who">
          {second}
        </th>
        <td />
      </tr>
      <tr>
        <td className="matrix__who truncate">{first}</td>
        {shown.map(({ label }) => (
          <th key={label} scope="col" className="truncate">
            {textOf(label)}
          </th>
        ))}
        <th scope="col" className="matrix__sum">
          All
        </th>
      </tr>
    </thead>
  );
}

/** How often each pair of ratings occurred. A cell opens its items. */
export function Matrix({ labels, rows, names, textOf, selected, onSelect }: MatrixProps) {
  const sumOfRow = (index: number) => rows[index]!.reduce((sum, count) => sum + count, 0);
  const sumOfColumn = (index: number) => rows.reduce((sum, row) => sum + row[index]!, 0);
  const shown = labels
    .map((label, index) => ({ label, index }))
    .filter(({ index }) => labels.length <= maxUnusedLabels || sumOfRow(index) + sumOfColumn(index) > 0);
  const largest = Math.max(0, ...rows.flat());
  const [first, second] = names;
  return (
    <div className="matrix__scroll" tabIndex={0} role="region" aria-label="Confusion matrix">
      <table className="matrix">
        <caption className="visually-hidden">
          {first} in rows, {second} in columns
        </caption>
        <Head names={names} shown={shown} textOf={textOf} />
        <tbody>
          {shown.map(({ label: row, index }) => (
            <tr key={row}>
              <th scope="row" className="truncate">
                {textOf(row)}
              </th>
              {shown.map(({ label: column, index: at }) => (
                <td key={column}>
                  <Cell
                    count={rows[index]![at]!}
                    largest={largest}
                    isAgreed={row === column}
                    isSelected={selected?.row === row && selected.column === column}
                    label={`${first} ${textOf(row)}, ${second} ${textOf(column)}`}
                    onSelect={() => onSelect({ row, column })}
                  />
                </td>
              ))}
              <td className="matrix__sum">{formatWhole(sumOfRow(index))}</td>
            </tr>
          ))}
          <tr>
            <th scope="row" className="matrix__sum">
              All
            </th>
            {shown.map(({ label, index }) => (
              <td key={label} className="matrix__sum">
                {formatWhole(sumOfColumn(index))}
              </td>
            ))}
            <td className="matrix__sum strong">{formatWhole(rows.flat().reduce((sum, count) => sum + count, 0))}</td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}
