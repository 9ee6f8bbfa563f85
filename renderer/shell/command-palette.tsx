import { Command } from 'cmdk';
import { Search } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { useState } from 'react';
import { Icon } from '../components/icon.tsx';
import { KeyCaps } from '../components/key-caps.tsx';
import { ModalLayer } from '../components/modal-layer.tsx';
import { allActions, useActionStore, type Action } from '../stores/actions.ts';
import { keysOf } from './global-keys.ts';
import { useObjectActions } from './object-actions.ts';
import { closeOverlay, useOverlay } from './overlay-state.ts';
import { rankActions } from './rank-actions.ts';

function PaletteItem({ action }: { action: Action }) {
  const choose = () => {
    closeOverlay();
    // After the palette is gone and the focus is back, or the action's own focus would be taken away again.
    requestAnimationFrame(action.run);
  };
  return (
    <Command.Item value={action.id} onSelect={choose}>
      {action.icon && <Icon icon={action.icon} />}
      <span className="truncate">{action.title}</span>
      {action.detail && <span className="small tertiary truncate">{action.detail}</span>}
      <span className="grow" />
      {action.keys && <KeyCaps keys={action.keys} />}
    </Command.Item>
  );
}

function PaletteBody() {
  const [search, setSearch] = useState('');
  const sources = useActionStore((state) => state.sources);
  const objects = useObjectActions(search);
  const groups = rankActions([...allActions(sources), ...objects], search);
  return (
    <Command
      label="Commands"
      loop
      shouldFilter={false}
      onKeyDown={(event) => {
        if (keysOf(event.nativeEvent) === 'Mod+K') {
          event.preventDefault();
          closeOverlay();
        }
      }}
    >
      <div className="search-head">
        <Icon icon={Search} />
        <Command.Input placeholder="Search or run a command" value={search} onValueChange={setSearch} />
        <KeyCaps keys="Escape" />
      </div>
      <Command.List>
        <Command.Empty>Nothing has this name. Try fewer letters, or press ? for the keys.</Command.Empty>
        {groups.map(({ title, actions }) => (
          <Command.Group key={title} heading={title}>
            {actions.map((action) => (
              <PaletteItem key={action.id} action={action} />
            ))}
          </Command.Group>
        ))}
      </Command.List>
      <div className="overlay__foot">
        <span className="row">
          <KeyCaps keys="ArrowUp+ArrowDown" />
          Move
        </span>
        <span className="row">
          <KeyCaps keys="Enter" />
          Run or open
        </span>
      </div>
    </Command>
  );
}

/** Every action and every object by name. */
export function CommandPalette() {
  const isOpen = useOverlay(({ open }) => open === 'palette');
  return (
    <ModalLayer isOpen={isOpen} onClose={closeOverlay} className="command">
      <Dialog.Title className="visually-hidden">Search or run a command</Dialog.Title>
      <PaletteBody />
    </ModalLayer>
  );
}
