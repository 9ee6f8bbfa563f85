import { Folder, FolderSync, Hash } from 'lucide-react';
import type { PromptOutline } from '../../../shared/contract/prompt-library.ts';
import { classNames } from '../../components/class-names.ts';
import { formatCount } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { usePromptsView } from '../../stores/prompts.ts';
import { folderPosition } from './library-model.ts';
import { Badge } from '../../components/badges.tsx';
import { openFolders, usePromptFolders, waiting } from './folders/linked-folders.ts';
import './library.css';

/** The linked folders next to the library's own, with the number of conflicts. */
function FolderLinks() {
  const folders = usePromptFolders();
  const count = folders.reduce((sum, { issues }) => sum + waiting(issues), 0);
  const isAway = folders.some(({ state }) => state === 'unavailable');
  return (
    <button type="button" className="library__row" onClick={openFolders}>
      <Icon icon={FolderSync} size="small" />
      <span className="grow truncate">{folders.length === 0 ? 'Link a folder' : 'Linked folders'}</span>
      {count > 0 && (
        <Badge tone="caution">
          {count}
          <span className="visually-hidden"> to resolve</span>
        </Badge>
      )}
      {count === 0 && isAway && <Badge tone="caution">Unavailable</Badge>}
    </button>
  );
}

function Row(props: {
  name: string;
  count: number;
  isOn: boolean;
  depth?: number;
  icon?: typeof Folder;
  onPress: () => void;
}) {
  const { name, count, isOn, depth = 0, icon, onPress } = props;
  return (
    <button
      type="button"
      className={classNames('library__row', isOn && 'is-selected')}
      data-depth={Math.min(depth, 6)}
      aria-pressed={isOn}
      onClick={onPress}
    >
      {icon && <Icon icon={icon} size="small" />}
      <span className="grow truncate">{name}</span>
      <span className="tertiary caption numbers">{formatCount(count)}</span>
    </button>
  );
}

/** Folders and tags; each filters the list. */
export function LibraryNav({ outline }: { outline: PromptOutline }) {
  const { folder: chosen, tags: chosenTags } = usePromptsView();
  const { prompts, withoutFolder, folders, tags } = outline;
  const choose = (next: string | null) => usePromptsView.setState({ folder: next });
  const toggle = (tag: string) =>
    usePromptsView.setState({
      tags: chosenTags.includes(tag) ? chosenTags.filter((one) => one !== tag) : [...chosenTags, tag],
    });
  return (
    <nav className="panel panel--inset library scroll" aria-label="Folders and tags">
      <div className="header">
        <h2>Folders</h2>
      </div>
      <Row name="All prompts" count={prompts} isOn={chosen === null} onPress={() => choose(null)} />
      {folders.map(({ folder, prompts: count }) => (
        <Row
          key={folder}
          {...folderPosition(folder)}
          count={count}
          icon={Folder}
          isOn={chosen === folder}
          onPress={() => choose(folder)}
        />
      ))}
      {folders.length > 0 && withoutFolder > 0 && (
        <Row name="No folder" count={withoutFolder} isOn={chosen === ''} onPress={() => choose('')} />
      )}
      <FolderLinks />
      {tags.length > 0 && (
        <>
          <div className="header">
            <h2>Tags</h2>
          </div>
          {tags.map(({ tag, prompts: count }) => (
            <Row
              key={tag}
              name={tag}
              count={count}
              icon={Hash}
              isOn={chosenTags.includes(tag)}
              onPress={() => toggle(tag)}
            />
          ))}
        </>
      )}
    </nav>
  );
}
