import type { OnDeviceModel } from '../../../../shared/contract/on-device.ts';
import { formatBytes, formatDuration, formatPart } from '../../../components/format.ts';
import { Progress } from '../../../components/progress.tsx';

/** Time until the last byte at the present rate, in milliseconds; null when it cannot be known. */
export function millisecondsLeft({ bytes, receivedBytes, bytesPerSecond }: OnDeviceModel): number | null {
  if (bytes === null || bytesPerSecond === null || bytesPerSecond <= 0) return null;
  return ((bytes - receivedBytes) / bytesPerSecond) * 1_000;
}

/** How far a fetch is: bar, count, rate, time left, and what is being done. */
export function DownloadProgress({ model }: { model: OnDeviceModel }) {
  const { bytes, receivedBytes, bytesPerSecond, step, state } = model;
  const left = millisecondsLeft(model);
  return (
    <>
      <Progress label={`Download of ${model.title}`} fraction={bytes === null ? null : receivedBytes / bytes} />
      <div className="row small nowrap numbers">
        <span>{bytes === null ? formatBytes(receivedBytes) : formatPart(receivedBytes, bytes)}</span>
        {state === 'downloading' && bytesPerSecond !== null && (
          <span className="tertiary">{formatBytes(bytesPerSecond)}/s</span>
        )}
        {state === 'downloading' && left !== null && <span className="tertiary">{formatDuration(left)} left</span>}
        {step && <span className="tertiary truncate">{step}</span>}
      </div>
    </>
  );
}
