import { Folder, Hash } from 'lucide-react';
import type { Prompt } from '../../../shared/contract/prompts.ts';
import { classNames } from '../../components/class-names.ts';
import { formatCount } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { usePromptsView } from '../../stores/prompts-view.ts';
import { foldersOf, tagsOf } from './library-model.ts';

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
      data-depth={Math.min(depth, 4)}
      aria-pressed={isOn}
      onClick={onPress}
    >
      {icon && <Icon icon={icon} size="small" />}
      <span className="grow truncate">{name}</span>
      <span className="tertiary caption numbers">{formatCount(count)}</span>
    </button>
  );
}

/** Folders and tags; each narrows the list. */
export function LibraryNav({ prompts }: { prompts: readonly Prompt[] }) {
  const { folder, tags } = usePromptsView();
  const folders = foldersOf(prompts);
  const withoutFolder = prompts.filter((prompt) => prompt.folder === null).length;
  const allTags = tagsOf(prompts);
  const choose = (next: string | null) => usePromptsView.setState({ folder: next });
  const toggle = (tag: string) =>
    usePromptsView.setState({ tags: tags.includes(tag) ? tags.filter((one) => one !== tag) : [...tags, tag] });
  return (
    <nav className="panel panel--inset library scroll" aria-label="Folders and tags">
      <div className="header">
        <h2>Folders</h2>
      </div>
      <Row name="All prompts" count={prompts.length} isOn={folder === null} onPress={() => choose(null)} />
      {folders.map(({ path, name, depth, prompts: count }) => (
        <Row
          key={path}
          name={name}
          count={count}
          depth={depth}
          icon={Folder}
          isOn={folder === path}
          onPress={() => choose(path)}
        />
      ))}
      {folders.length > 0 && withoutFolder > 0 && (
        <Row name="No folder" count={withoutFolder} isOn={folder === ''} onPress={() => choose('')} />
      )}
      {allTags.length > 0 && (
        <>
          <div className="header">
            <h2>Tags</h2>
          </div>
          {allTags.map(({ tag, prompts: count }) => (
            <Row key={tag} name={tag} count={count} icon={Hash} isOn={tags.includes(tag)} onPress={() => toggle(tag)} />
          ))}
        </>
      )}
    </nav>
  );
}
