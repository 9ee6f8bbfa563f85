import { Columns3 } from 'lucide-react';
import { Link } from 'wouter';
import type { ComparisonItem } from '../../shared/contract/comparisons.ts';
import { formatPlural, formatWhole } from '../components/format.ts';
import { Icon } from '../components/icon.tsx';
import { useRunningComparisons } from '../queries/comparisons.ts';
import { comparisonAddress } from './addresses.ts';

function runningWords({ name, cells, judging }: ComparisonItem): string {
  if (judging) return `${name}: ${formatWhole(judging.judged)} of ${formatPlural(judging.total, 'verdict')}`;
  const ended = cells.completed + cells.failed + cells.skipped;
  return `${name}: ${formatWhole(ended)} of ${formatPlural(cells.total, 'run')}`;
}

/** The comparisons that run or judge, in the status bar. */
export function RunningComparisons() {
  const running = useRunningComparisons();
  const [first] = running;
  if (!first) return null;
  return (
    <Link
      href={running.length === 1 ? comparisonAddress(first.id) : '/compare'}
      className="statusbar__item accent numbers"
      title={running.map(runningWords).join('\n')}
    >
      <Icon icon={Columns3} size="tiny" />
      <span className="truncate">
        {running.length === 1 ? runningWords(first) : `${running.length} comparisons running`}
      </span>
    </Link>
  );
}
