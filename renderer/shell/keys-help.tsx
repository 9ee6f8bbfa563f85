import { Dialog } from '../components/dialog.tsx';
import { KeyCaps } from '../components/key-caps.tsx';
import { allActions, useActionStore, type Action } from '../stores/actions.ts';
import { closeOverlay, useOverlay } from './overlay-state.ts';

/** Keys that belong to a kind of control rather than to an action. */
const everywhere: readonly Pick<Action, 'title' | 'keys'>[] = [
  { title: 'Next or previous control', keys: 'Tab' },
  { title: 'Move in a list, menu or group of options', keys: 'ArrowUp+ArrowDown' },
  { title: 'Resize a panel (on its divider)', keys: 'ArrowUp+ArrowDown' },
  { title: 'Close', keys: 'Escape' },
  { title: 'Focus notifications', keys: 'F8' },
];

function KeyGroup({ title, entries }: { title: string; entries: readonly Pick<Action, 'title' | 'keys'>[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {entries.map((entry) => (
          <div key={`${entry.title} ${entry.keys}`}>
            <dt>{entry.title}</dt>
            <dd>{entry.keys && <KeyCaps keys={entry.keys} />}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Every key that does something now, made from the same registry that runs them. */
export function KeysHelp() {
  const isOpen = useOverlay(({ open }) => open === 'keys');
  const sources = useActionStore((state) => state.sources);
  const groups = Map.groupBy(
    allActions(sources).filter(({ keys }) => keys !== undefined),
    ({ group }) => group,
  );
  return (
    <Dialog title="Keyboard shortcuts" isOpen={isOpen} onClose={closeOverlay} isWide>
      <div className="key-list">
        {[...groups].map(([group, actions]) => (
          <KeyGroup key={group} title={group} entries={actions} />
        ))}
        <KeyGroup title="Everywhere" entries={everywhere} />
      </div>
    </Dialog>
  );
}
