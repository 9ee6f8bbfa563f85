import type { SpawnOptions } from 'node:child_process';

export const root: string;
export function isInstalled(): boolean;
export function onParentExit(callBack: () => void): () => void;
export function runToEnd(command: string, parameters: readonly string[], options?: SpawnOptions): Promise<number>;
export function projectNode(): Promise<string>;
