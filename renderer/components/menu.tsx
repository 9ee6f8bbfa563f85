import type { LucideIcon } from 'lucide-react';
import { Check } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { Fragment, type ReactElement } from 'react';
import { classNames } from './class-names.ts';
import { Icon } from './icon.tsx';
import { keepNewerFocus } from './focus.ts';
import { KeyCaps } from './key-caps.tsx';

export interface MenuItem {
  label: string;
  icon?: LucideIcon;
  keys?: string;
  detail?: string;
  onSelect: () => void;
  isDisabled?: boolean;
  isNegative?: boolean;
  /** Shows a check mark; undefined for items without a state. */
  isChecked?: boolean;
}

export interface MenuProps {
  /** Groups of items with a line between them. */
  groups: readonly (readonly MenuItem[])[];
  align?: 'start' | 'end';
  /** For a key that opens it; undefined if only its button does. */
  isOpen?: boolean;
  onOpenChange?: (isOpen: boolean) => void;
  /** The button that opens it. */
  children: ReactElement;
}

function Item({ item }: { item: MenuItem }) {
  return (
    <DropdownMenu.Item
      className={classNames('menu__item', item.isNegative && 'menu__item--negative')}
      disabled={item.isDisabled ?? false}
      onSelect={item.onSelect}
    >
      {item.isChecked !== undefined && (
        <span className="menu__check">{item.isChecked && <Icon icon={Check} size="small" />}</span>
      )}
      {item.icon && <Icon icon={item.icon} size="small" />}
      <span className="grow truncate">{item.label}</span>
      {item.detail && <span className="caption tertiary">{item.detail}</span>}
      {item.keys && <KeyCaps keys={item.keys} />}
    </DropdownMenu.Item>
  );
}

/** A menu under its button. Arrows, typing and Esc work as in every menu. */
export function Menu({ groups, align = 'start', isOpen, onOpenChange, children }: MenuProps) {
  return (
    <DropdownMenu.Root
      modal={false}
      {...(isOpen !== undefined && { open: isOpen })}
      {...(onOpenChange && { onOpenChange })}
    >
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className="overlay menu"
          align={align}
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={keepNewerFocus}
        >
          {groups.map((items, index) => (
            <Fragment key={items[0]?.label ?? index}>
              {index > 0 && <DropdownMenu.Separator className="menu__separator" />}
              {items.map((item) => (
                <Item key={item.label} item={item} />
              ))}
            </Fragment>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
