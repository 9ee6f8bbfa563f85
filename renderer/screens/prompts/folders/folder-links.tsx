import { FolderSync } from 'lucide-react';
import { Icon } from '../../../components/icon.tsx';
import { Badge } from '../../../components/marks.tsx';
import { usePromptFolders } from './folder-queries.ts';
import { openFolders } from './folders-state.ts';
import { waiting } from './issue-words.ts';

/** The linked folders beside the library's own, with what waits for a decision. */
export function FolderLinks() {
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
