import { CircleX, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { AppError } from '../../shared/app-error.ts';
import { Icon } from './icon.tsx';
import { Button } from './button.tsx';

interface EmptyStateProps {
  /** What is missing. */
  title: string;
  /** The reason, or what it would show. */
  reason?: ReactNode;
  /** The next step, as a button. */
  children?: ReactNode;
}

export function EmptyState({ title, reason, children }: EmptyStateProps) {
  return (
    <div className="state-panel">
      <p className="strong">{title}</p>
      {reason && <p className="small secondary">{reason}</p>}
      {children && <div className="row">{children}</div>}
    </div>
  );
}

interface FailureProps {
  /** The failure. */
  title: string;
  /** What it means and how to fix it. */
  reason: ReactNode;
  requestId?: string | null | undefined;
  /** The fix as a button. */
  children?: ReactNode;
}

/** A failure in the place of the expected result: reason, fix, request ID. */
export function Failure({ title, reason, requestId, children }: FailureProps) {
  return (
    <div className="state-panel" role="alert">
      <p className="state-panel__title negative">
        <Icon icon={CircleX} />
        {title}
      </p>
      <p className="small secondary">{reason}</p>
      {(children || requestId) && (
        <div className="row">
          {children}
          <span className="grow" />
          {requestId && <span className="mono--small tertiary">Request ID {requestId}</span>}
        </div>
      )}
    </div>
  );
}

/** Any thrown value as text for the screen, with its request ID if it has one. */
export function describeError(error: unknown): { message: string; requestId: string | undefined } {
  if (error instanceof AppError) return { message: error.message, requestId: error.requestId };
  return { message: error instanceof Error ? error.message : String(error), requestId: undefined };
}

/** A failure from a thrown value. */
export function ErrorFailure({ title, error, children }: { title: string; error: unknown; children?: ReactNode }) {
  const { message, requestId } = describeError(error);
  return (
    <Failure title={title} reason={message} requestId={requestId}>
      {children}
    </Failure>
  );
}

const noticeIcons = { neutral: Info, caution: TriangleAlert, negative: CircleX } as const;

/** A few lines on a tint, inside the element that they are about. */
export function Notice({ tone = 'neutral', children }: { tone?: keyof typeof noticeIcons; children: ReactNode }) {
  return (
    <div
      className={tone === 'neutral' ? 'notice' : `notice notice--${tone}`}
      role={tone === 'negative' ? 'alert' : undefined}
    >
      <Icon icon={noticeIcons[tone]} size="small" />
      <div className="grow">{children}</div>
    </div>
  );
}

const barWidths = ['62%', '48%', '70%', '54%'];

/** Placeholder bars for loading rows, visible after 200 ms. */
export function LoadingRows({ label, rows = 3 }: { label: string; rows?: number }) {
  return (
    <div className="placeholder" role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="placeholder__row">
          <span className="placeholder__bar" style={{ width: barWidths[row % barWidths.length] }} />
        </div>
      ))}
    </div>
  );
}

interface QueryViewProps<Data> {
  query: UseQueryResult<Data>;
  /** What is loading, for people: `the providers`. */
  subject: string;
  rows?: number;
  children: (data: Data) => ReactNode;
}

/** The loaded data, placeholder bars while it loads, or the reason it failed with a Retry button. */
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
