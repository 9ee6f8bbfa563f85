import { Command } from 'cmdk';
import { Link, Search } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { Icon } from '../components/icon.tsx';
import { KeyCaps } from '../components/key-caps.tsx';
import { ModalLayer } from '../components/dialog.tsx';
import { allActions, useActionStore, type Action } from '../stores/actions.ts';
import { useRecentObjects } from '../stores/window.ts';
import { useDeletions } from '../stores/deletions.ts';
import { keysOf } from './global-keys.ts';
import { addressOfLink } from './links.tsx';
import { type ActionGroup, rankActions, useObjectActions } from './palette-actions.ts';
import { closeOverlay, useOverlay } from './overlay-state.ts';
import { otherScreensActions } from './screen-commands.ts';
import { screens } from './screens.ts';

function PaletteItem({ action }: { action: Action }) {
  const choose = () => {
    closeOverlay();
    // After the palette has closed and the focus is restored. Otherwise the action's own focus would be lost.
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

/** The last opened objects except the open one. */
function useRecentActions(): ActionGroup[] {
  const [location, navigate] = useLocation();
  const deleted = useDeletions(({ ids }) => ids);
  const objects = useRecentObjects((state) => state.objects).filter(
    ({ address }) => address !== location && !address.split('/').some((part) => deleted.has(part)),
  );
  if (objects.length === 0) return [];
  const actions = objects.map(({ address, title, screen }): Action => ({
    id: `recent.${address}`,
    title,
    detail: screen,
    group: 'Recent',
    icon: screens.find(({ name }) => name === screen)?.icon,
    run: () => navigate(address),
  }));
  return [{ title: 'Recent', actions }];
}

function openLink(address: string, navigate: (address: string) => void): Action {
  return {
    id: 'link.open',
    title: 'Open link',
    detail: address,
    group: 'Link',
    icon: Link,
    run: () => navigate(address),
  };
}

function PaletteBody() {
  const [search, setSearch] = useState('');
  const sources = useActionStore((state) => state.sources);
  const [, navigate] = useLocation();
  const registered = allActions(sources);
  const objects = useObjectActions(search);
  const recent = useRecentActions();
  const linked = addressOfLink(search);
  const all = [...registered, ...otherScreensActions(registered, navigate), ...objects];
  const groups =
    linked === null
      ? [...(search.trim() === '' ? recent : []), ...rankActions(all, search)]
      : [{ title: 'Link', actions: [openLink(linked, navigate)] }];
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
        <Command.Empty>No results for &ldquo;{search}&rdquo;</Command.Empty>
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
