import { ClipboardList, Columns3, Gavel, Plus } from 'lucide-react';
import { useLocation } from 'wouter';
import { useFollowComparisons } from '../../queries/comparisons.ts';
import {
  type CompareAddress,
  datasetAddress,
  judgeAddress,
  newComparisonAddress,
  readCompareAddress,
} from '../../shell/addresses.ts';
import { useActions } from '../../stores/actions.ts';
import { DatasetsView } from './datasets/datasets-view.tsx';
import { JudgesView } from './judges/judges-view.tsx';
import { ComparisonList } from './list/comparison-list.tsx';
import { ResultsView } from './results/results-view.tsx';
import { SetupView } from './setup/setup-view.tsx';
import { VoteView } from './vote/vote-view.tsx';
import './compare.css';

function View({ address }: { address: CompareAddress }) {
  switch (address.view) {
    case 'list':
      return <ComparisonList />;
    case 'setup':
      return <SetupView key={address.comparisonId} comparisonId={address.comparisonId} />;
    case 'results':
      return <ResultsView key={address.comparisonId} comparisonId={address.comparisonId} />;
    case 'vote':
      return <VoteView key={address.comparisonId} comparisonId={address.comparisonId} />;
    case 'datasets':
      return <DatasetsView datasetId={address.datasetId} />;
    case 'judges':
      return <JudgesView judgeId={address.judgeId} />;
  }
}

/** Comparisons of variants over datasets, with their setup, results, votes, datasets and judges. */
export function CompareScreen() {
  const [location, navigate] = useLocation();
  useFollowComparisons();
  useActions('compare', [
    {
      id: 'compare.new',
      title: 'New comparison',
      keywords: ['evaluate', 'variants'],
      group: 'Compare',
      icon: Plus,
      keys: 'Mod+Alt+N',
      run: () => navigate(newComparisonAddress),
    },
    {
      id: 'compare.list',
      title: 'Show comparisons',
      group: 'Compare',
      icon: Columns3,
      run: () => navigate('/compare'),
    },
    {
      id: 'compare.datasets',
      title: 'Show datasets',
      keywords: ['rows', 'CSV'],
      group: 'Compare',
      icon: ClipboardList,
      run: () => navigate(datasetAddress()),
    },
    {
      id: 'compare.judges',
      title: 'Show judges',
      keywords: ['model as judge', 'calibrate'],
      group: 'Compare',
      icon: Gavel,
      run: () => navigate(judgeAddress()),
    },
  ]);
  return (
    <div className="compare-screen">
      <View address={readCompareAddress(location)} />
    </div>
  );
}
