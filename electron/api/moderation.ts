import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/app-error.ts';
import { maximumModerationBytes, moderate } from '../../shared/contract/moderation.ts';
import type { Moderation } from '../moderation/create-moderation.ts';
import { implement, type Handler } from './handler.ts';
import { payForCall, type Payment } from './paid-call.ts';

function requireSize(input: string): void {
  if (Buffer.byteLength(input) <= maximumModerationBytes) return;
  throw new AppError('payload_too_large', 'input is larger than 1 MB (1,048,576 bytes of UTF-8). Send it in parts.', {
    details: [{ field: 'input', issue: 'is larger than 1 MB' }],
  });
}

interface ModerationOptions extends Payment {
  readonly moderation: Moderation;
}

export function moderationHandlers({ moderation, ...payment }: ModerationOptions): Handler[] {
  return [
    implement(moderate, async ({ body, signal, caller }) => {
      requireSize(body.input);
      const classify = () => moderation.classify(body.input, { signal });
      const isFree = caller.key === null || !moderation.isPaid();
      const {
        model,
        rawAnswer: _,
        ...result
      } = await (isFree ? classify() : payForCall(caller.key, payment, classify));
      return { id: randomUUID(), model, results: [result] };
    }),
  ];
}
