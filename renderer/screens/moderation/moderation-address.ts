import { useLocation } from 'wouter';

export interface ModerationAddress {
  /** Null while one text is written. */
  readonly batchId: string | null;
  /** Index of the open text of the batch, from 0. */
  readonly index: number | null;
  openText: () => void;
  openBatch: (id: string, index?: number) => void;
}

/** `/moderation` for one text, `/moderation/batches/<id>/<number>` for a text of a batch; numbers count from 1. */
export function useModerationAddress(): ModerationAddress {
  const [location, navigate] = useLocation();
  const [, , kind, id, number] = location.split('/');
  const batchId = kind === 'batches' && id ? id : null;
  return {
    batchId,
    index: batchId !== null && /^[1-9]\d{0,5}$/.test(number ?? '') ? Number(number) - 1 : null,
    openText: () => navigate('/moderation'),
    openBatch: (next, index) =>
      navigate(`/moderation/batches/${next}${index === undefined ? '' : `/${index + 1}`}`, {
        replace: next === batchId && index !== undefined,
      }),
  };
}
