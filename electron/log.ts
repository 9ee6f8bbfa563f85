/**
 * Told what a person who runs the host should know, and of failures that are nobody else's. Neither the message nor the error
 * may hold a key, a prompt or an answer.
 */
export type Log = (message: string, error?: unknown) => void;
