import { matchScore } from '../components/match-score.ts';
import type { Action } from '../stores/actions.ts';

/** More of one kind than this is found by typing more. */
const maxPerGroup = 12;

export interface ActionGroup {
  title: string;
  actions: readonly Action[];
}

function score(action: Action, search: string): number {
  return matchScore(search, [action.title, action.group, action.detail ?? '', ...(action.keywords ?? [])]);
}

/**
 * What the palette shows for what was typed: the best of each group first, the group with the best one first. Nothing typed
 * leaves the order of the registry.
 */
export function rankActions(actions: readonly Action[], search: string): ActionGroup[] {
  const shown = actions.filter(({ isEnabled, isHiddenInPalette }) => isEnabled !== false && isHiddenInPalette !== true);
  const scored = shown.map((action) => ({ action, score: score(action, search) })).filter((entry) => entry.score > 0);
  // The best first: groups then come up in the order of their best one.
  if (search.trim() !== '') scored.sort((one, other) => other.score - one.score);
  const groups = Map.groupBy(scored, ({ action }) => action.group);
  return [...groups].map(([title, entries]) => ({
    title,
    actions: entries.slice(0, maxPerGroup).map(({ action }) => action),
  }));
}
