/** What an address of the library asks for. */
export type PromptsAddress =
  | { view: 'none' }
  /** `versionId` null is the newest one. */
  | { view: 'version'; promptId: string; versionId: string | null }
  | { view: 'run'; promptId: string; versionId: string | null }
  /** `beforeId` null is the one before `afterId`, which null makes the newest one. */
  | { view: 'compare'; promptId: string; beforeId: string | null; afterId: string | null };

/** Reads `/prompts/<prompt>`, `.../<version>`, `.../run/<version>` and `.../compare/<version>/<version>`. */
export function readPromptsAddress(location: string): PromptsAddress {
  const [, , promptId, second, third, fourth] = location.split('/');
  if (!promptId) return { view: 'none' };
  if (second === 'run') return { view: 'run', promptId, versionId: third || null };
  if (second === 'compare') {
    return { view: 'compare', promptId, beforeId: third || null, afterId: fourth || null };
  }
  return { view: 'version', promptId, versionId: second || null };
}
