import { createTurnQueue, type TurnQueue } from '../on-device/turn-queue.ts';

/** Lets one turn at a time go on in each conversation, so that every turn knows the answer to the one before. */
export interface ConversationTurns {
  /** Resolves with the function that ends the turn; rejects with the signal's reason. */
  take(conversationId: string, options: { readonly signal: AbortSignal }): Promise<() => void>;
}

export function createConversationTurns(): ConversationTurns {
  const queues = new Map<string, { readonly queue: TurnQueue; users: number }>();
  return {
    async take(conversationId, { signal }) {
      const entry = queues.get(conversationId) ?? { queue: createTurnQueue(() => undefined), users: 0 };
      queues.set(conversationId, entry);
      entry.users += 1;
      const leave = () => {
        entry.users -= 1;
        if (entry.users === 0) queues.delete(conversationId);
      };
      try {
        const release = await entry.queue.take({ signal });
        return () => {
          release();
          leave();
        };
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}
