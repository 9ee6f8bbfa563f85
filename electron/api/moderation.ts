import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/app-error.ts';
import { maximumModerationBytes, moderate } from '../../shared/contract/moderation.ts';
import type { Moderation } from '../moderation/create-moderation.ts';
import { implement, type Handler } from './handler.ts';

function requireSize(input: string): void {
  if (Buffer.byteLength(input) <= maximumModerationBytes) return;
  throw new AppError('payload_too_large', 'input is larger than 1 MB (1,048,576 bytes of UTF-8). Send it in parts.', {
    details: [{ field: 'input', issue: 'is larger than 1 MB' }],
  });
}

export function moderationHandlers(moderation: Moderation): Handler[] {
  return [
    implement(moderate, async ({ body, signal }) => {
      requireSize(body.input);
      const { model, rawAnswer: _, ...result } = await moderation.classify(body.input, { signal });
      return { id: randomUUID(), model, results: [result] };
    }),
  ];
}
