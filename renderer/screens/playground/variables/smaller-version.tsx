import { useEffect, useState } from 'react';
import type { StoredFile } from '../../../../shared/contract/files.ts';
import { Button } from '../../../components/button.tsx';
import { describeFile } from '../../../components/files/file-summary.tsx';
import { useFileContent } from '../../../queries/files.ts';
import { makeSmaller, type SmallerImage } from './smaller-image.ts';

interface SmallerVersionProps {
  file: StoredFile;
  onUse: (smaller: File) => void;
  onClose: () => void;
}

/** Makes a smaller version of an image and shows the sizes of both, before anything is replaced. */
export function SmallerVersion({ file, onUse, onClose }: SmallerVersionProps) {
  const content = useFileContent(file.id);
  const [made, setMade] = useState<SmallerImage | 'failed' | null>(null);
  useEffect(() => {
    if (!content.data) return;
    let isCurrent = true;
    makeSmaller(content.data, file.name).then(
      (smaller) => isCurrent && setMade(smaller),
      () => isCurrent && setMade('failed'),
    );
    return () => {
      isCurrent = false;
    };
  }, [content.data, file.name]);
  if (content.isError || made === 'failed')
    return (
      <p className="caption negative" role="alert">
        Couldn't make a smaller version of {file.name}. Keep it, or choose another file.
      </p>
    );
  if (made === null)
    return (
      <p className="caption tertiary" role="status">
        Making a smaller version
      </p>
    );
  const { file: smaller, width, height } = made;
  return (
    <div className="file-field__add" role="status">
      <span className="caption tertiary">
        {describeFile(file)} becomes {describeFile({ mediaType: smaller.type, bytes: smaller.size, width, height })}
      </span>
      <Button size="small" onClick={() => onUse(smaller)}>
        Use smaller version
      </Button>
      <Button size="small" variant="quiet" onClick={onClose}>
        Keep original
      </Button>
    </div>
  );
}
