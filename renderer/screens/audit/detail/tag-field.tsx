import { Command } from 'cmdk';
import { Plus, Search, X } from 'lucide-react';
import { useState } from 'react';
import { Icon } from '../../../components/icon.tsx';
import { matchScore } from '../../../components/match-score.ts';
import { Popover } from '../../../components/popover.tsx';

const maxSuggested = 4;

interface TagFieldProps {
  tags: readonly string[];
  /** Existing tags, the most frequent first. */
  known: readonly string[];
  onChange: (tags: readonly string[]) => void;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}

function TagList({ tags, known, onChange }: Pick<TagFieldProps, 'tags' | 'known' | 'onChange'>) {
  const [typed, setTyped] = useState('');
  // The list of tags is one comma-separated text.
  const own = typed.replaceAll(',', ' ').trim();
  const rest = known.filter((tag) => !tags.includes(tag));
  const isNew = own !== '' && !known.includes(own) && !tags.includes(own);
  const add = (tag: string) => {
    setTyped('');
    onChange([...tags, tag]);
  };
  return (
    <Command
      label="Tags"
      loop
      filter={(value, search, keywords) => (value === 'new' ? 0.001 : matchScore(search, keywords ?? []))}
    >
      <div className="combobox__search">
        <Icon icon={Search} size="small" />
        <Command.Input autoFocus placeholder="Find or create a tag" value={typed} onValueChange={setTyped} />
      </div>
      <Command.List className="combobox__list scroll">
        {rest.map((tag) => (
          <Command.Item
            key={tag}
            value={`tag-${tag}`}
            keywords={[tag]}
            className="menu__item"
            onSelect={() => add(tag)}
          >
            {tag}
          </Command.Item>
        ))}
        {isNew && (
          <Command.Item value="new" className="menu__item" onSelect={() => add(own)}>
            <Icon icon={Plus} size="small" />
            New tag {own}
          </Command.Item>
        )}
        {rest.length === 0 && !isNew && <p className="combobox__empty">No other tags yet. Type a new one.</p>}
      </Command.List>
    </Command>
  );
}

/** Tags of a run: its own with a cross, buttons for frequent ones, and a menu for all others. */
export function TagField({ tags, known, onChange, isOpen, onOpenChange }: TagFieldProps) {
  const suggested = known.filter((tag) => !tags.includes(tag)).slice(0, maxSuggested);
  return (
    <div className="feedback__tags" role="group" aria-label="Tags">
      {tags.map((tag) => (
        <button
          key={tag}
          type="button"
          className="tag is-on"
          aria-label={`Remove tag ${tag}`}
          onClick={() => onChange(tags.filter((other) => other !== tag))}
        >
          {tag}
          <Icon icon={X} size="tiny" />
        </button>
      ))}
      {suggested.map((tag) => (
        <button
          key={tag}
          type="button"
          className="tag"
          aria-label={`Add tag ${tag}`}
          onClick={() => onChange([...tags, tag])}
        >
          {tag}
        </button>
      ))}
      <Popover
        label="Tags"
        isOpen={isOpen}
        onOpenChange={onOpenChange}
        className="combobox tag-list"
        trigger={
          <button type="button" className="tag tag--new">
            <Icon icon={Plus} size="tiny" />
            Tag
          </button>
        }
      >
        <TagList tags={tags} known={known} onChange={onChange} />
      </Popover>
    </div>
  );
}
