import { allActions, useActionStore, windowSource, type Action } from '../stores/actions.ts';
import { screens } from './screens.ts';

interface ScreenCommand extends Pick<Action, 'id' | 'title' | 'keywords'> {
  screen: string;
}

/**
 * The commands of every screen that need no open object, for the palette of all other screens. Each has the id of the action
 * that its screen registers.
 */
export const screenCommands: readonly ScreenCommand[] = [
  { screen: 'playground', id: 'playground.new', title: 'New prompt' },
  { screen: 'playground', id: 'playground.run', title: 'Run prompt' },
  { screen: 'playground', id: 'playground.model', title: 'Choose model' },
  { screen: 'playground', id: 'playground.save', title: 'Save to library' },
  { screen: 'playground', id: 'playground.rename', title: 'Rename prompt' },
  { screen: 'playground', id: 'playground.duplicate', title: 'Duplicate prompt' },
  { screen: 'playground', id: 'playground.history', title: 'Switch history between this prompt and all runs' },
  { screen: 'playground', id: 'playground.wire', title: 'Show or hide the wire' },
  { screen: 'compare', id: 'compare.new', title: 'New comparison', keywords: ['evaluate', 'variants'] },
  { screen: 'compare', id: 'compare.datasets', title: 'Show datasets', keywords: ['rows', 'CSV'] },
  { screen: 'compare', id: 'compare.judges', title: 'Show judges', keywords: ['model as judge', 'calibrate'] },
  { screen: 'prompts', id: 'prompts.new', title: 'New prompt' },
  { screen: 'prompts', id: 'prompts.find', title: 'Search prompts' },
  { screen: 'prompts', id: 'prompts.import', title: 'Import prompts' },
  { screen: 'prompts', id: 'prompts.export', title: 'Export prompts' },
  { screen: 'prompts', id: 'prompts.folders', title: 'Show linked folders' },
  { screen: 'agents', id: 'agents.new', title: 'Create agent', keywords: ['new'] },
  { screen: 'agents', id: 'agents.find', title: 'Search agents' },
  { screen: 'knowledge', id: 'knowledge.new', title: 'Create dataspace', keywords: ['new'] },
  { screen: 'knowledge', id: 'knowledge.add', title: 'Add files', keywords: ['sources', 'dataspace'] },
  { screen: 'knowledge', id: 'knowledge.search', title: 'Search dataspace' },
  { screen: 'audit', id: 'audit.find', title: 'Search conversations' },
  { screen: 'audit', id: 'audit.filter', title: 'Filter conversations' },
  { screen: 'audit', id: 'audit.save', title: 'Save view' },
  { screen: 'audit', id: 'audit.export', title: 'Create evidence pack' },
  {
    screen: 'moderation',
    id: 'moderation.file',
    title: 'Import file to check',
    keywords: ['CSV', 'JSONL', 'labelled'],
  },
  { screen: 'moderation', id: 'moderation.paste', title: 'Paste lines to check' },
  { screen: 'moderation', id: 'moderation.guard', title: 'Guard for prompts and answers', keywords: ['block'] },
];

function screenAction(id: string): Action | undefined {
  const { sources } = useActionStore.getState();
  return allActions(new Map([...sources].filter(([source]) => source !== windowSource))).find(
    (action) => action.id === id,
  );
}

let stopWaiting = (): void => {};

/**
 * Runs an action of the open screen as soon as the screen has registered and enabled it. The next key press or click cancels
 * it: what a person does by then comes first.
 */
function runWhenRegistered(id: string): void {
  stopWaiting();
  const controller = new AbortController();
  const { signal } = controller;
  const tryRun = (): void => {
    const action = screenAction(id);
    if (signal.aborted || !action || action.isEnabled === false) return;
    controller.abort();
    // After the frame and all effects of the screen that registered it, so that the screen is complete.
    requestAnimationFrame(() => setTimeout(action.run));
  };
  const unsubscribe = useActionStore.subscribe(tryRun);
  signal.addEventListener('abort', unsubscribe, { once: true });
  for (const type of ['keydown', 'pointerdown']) {
    document.addEventListener(type, () => controller.abort(), { once: true, signal, capture: true });
  }
  stopWaiting = () => controller.abort();
  tryRun();
}

/** Opens the screen of a command and runs it there; false for an unknown id. */
export function runScreenCommand(
  id: string,
  navigate: (address: string, options?: { replace?: boolean }) => void,
): boolean {
  const command = screenCommands.find((each) => each.id === id);
  if (!command) return false;
  navigate(`/${command.screen}`, { replace: true });
  runWhenRegistered(id);
  return true;
}

/** The commands of screens other than the open one. */
export function otherScreensActions(registered: readonly Action[], navigate: (address: string) => void): Action[] {
  const isRegistered = new Set(registered.map(({ id }) => id));
  return screenCommands
    .filter(({ id }) => !isRegistered.has(id))
    .map(({ screen: screenId, id, title, keywords }) => {
      const screen = screens.find((each) => each.id === screenId);
      return {
        id,
        title,
        group: screen?.name ?? screenId,
        icon: screen?.icon,
        keywords,
        run: () => {
          navigate(`/${screenId}`);
          runWhenRegistered(id);
        },
      };
    });
}
