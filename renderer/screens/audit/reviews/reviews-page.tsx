import { ClipboardList, ListChecks } from 'lucide-react';
import { useLocation } from 'wouter';
import { readReviewsAddress, type ReviewsAddress, reviewsAddress, rubricAddress } from '../../../shell/addresses.ts';
import { useActions } from '../../../stores/actions.ts';
import { AgreementView } from './agreement-view.tsx';
import { NewQueue } from './new-queue.tsx';
import { QueueList } from './queue-list.tsx';
import { ReviewView } from './review-view.tsx';
import { RubricsView } from './rubrics-view.tsx';
import './reviews.css';

function View({ address }: { address: ReviewsAddress }) {
  switch (address.view) {
    case 'list':
      return <QueueList />;
    case 'new':
      return <NewQueue filterText={address.filter} />;
    case 'rubrics':
      return <RubricsView rubricId={address.rubricId} />;
    case 'queue':
      return <ReviewView key={address.queueId} queueId={address.queueId} />;
    case 'agreement':
      return <AgreementView key={address.queueId} queueId={address.queueId} />;
  }
}

/** Review queues, rubrics, reviewing and the people who do it: the parts of the audit that several people share. */
export function ReviewsPage() {
  const [location, navigate] = useLocation();
  useActions('reviews', [
    {
      id: 'reviews.queues',
      title: 'Show review queues',
      group: 'Review',
      icon: ListChecks,
      run: () => navigate(reviewsAddress),
    },
    {
      id: 'reviews.rubrics',
      title: 'Show rubrics',
      group: 'Review',
      icon: ClipboardList,
      run: () => navigate(rubricAddress()),
    },
  ]);
  const address = readReviewsAddress(location);
  return address && <View address={address} />;
}
