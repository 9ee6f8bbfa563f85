import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { ErrorFailure, LoadingRows } from './state-panels.tsx';

export interface QueryViewProps<Data> {
  query: UseQueryResult<Data>;
  /** What is being read, for people: `the providers`. */
  subject: string;
  rows?: number;
  children: (data: Data) => ReactNode;
}

/** What was read, bars while it is on its way, or why it could not be read with the way to try again. */
export function QueryView<Data>({ query, subject, rows = 3, children }: QueryViewProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.isPending) return <LoadingRows label={`Loading ${subject}`} rows={rows} />;
  return (
    <ErrorFailure title={`Couldn't load ${subject}`} error={query.error}>
      <Button isBusy={query.isFetching} onClick={() => void query.refetch()}>
        Retry
      </Button>
    </ErrorFailure>
  );
}
