import { CircleX, File, FileJson, FileSpreadsheet, FileText, RefreshCw, type LucideIcon } from 'lucide-react';
import type { SourceDetail } from '../../../shared/contract/knowledge-window.ts';
import type { SourceMediaType } from '../../../shared/contract/sources.ts';
import { Icon } from '../../components/icon.tsx';
import { Progress } from '../../components/progress.tsx';
import { factsOf, isStopped, stageWords } from './source-words.ts';

function iconOf(mediaType: SourceMediaType): LucideIcon {
  if (mediaType === 'application/json') return FileJson;
  if (mediaType === 'text/csv') return FileSpreadsheet;
  return mediaType === 'text/plain' ? File : FileText;
}

function State({ source }: { source: SourceDetail }) {
  const { progress, status, failureReason, isOutdated } = source;
  if (progress) return <span className="caption accent nowrap">{stageWords(progress)}</span>;
  if (isStopped(source)) return <span className="caption tertiary nowrap">Stopped</span>;
  if (status === 'Failed') {
    return (
      <span className="row caption negative knowledge__reason">
        <Icon icon={CircleX} size="small" />
        <span className="truncate">{failureReason}</span>
      </span>
    );
  }
  if (!isOutdated) return null;
  return (
    <span className="row caption caution nowrap">
      <Icon icon={RefreshCw} size="small" />
      Outdated embeddings
    </span>
  );
}

/** One source in the list: its name, and what it is or what is being done with it. */
export function SourceRow({ source }: { source: SourceDetail }) {
  return (
    <div className="list-row">
      <span className="row">
        <Icon icon={iconOf(source.mediaType)} size="small" />
        <span className="medium truncate grow">{source.name}</span>
      </span>
      <span className="row knowledge__facts">
        {source.progress === null || source.progress.passagesTotal === null ? (
          factsOf(source).map((fact) => (
            <span key={fact} className="caption tertiary numbers nowrap">
              {fact}
            </span>
          ))
        ) : (
          <Progress label={`Indexing ${source.name}`} fraction={source.progress.fraction} />
        )}
        <span className="grow" />
        <State source={source} />
      </span>
    </div>
  );
}
