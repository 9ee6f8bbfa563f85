import type { FrameTiming } from '../../shared/contract/conversations.ts';
import { formatPlural, formatRunDuration } from './format.ts';
import './run-detail.css';

const height = 20;
/** Of a viewBox that is as wide as the strip is long. */
const width = 400;

/** When the frames of a streamed answer arrived: a bar for each group, from the start of the call to its last frame. */
export function FrameStrip({ frames: { count, firstMs, lastMs, longestGapMs, series } }: { frames: FrameTiming }) {
  const maxFrames = Math.max(...series.map(({ frames }) => frames));
  const text = `${formatPlural(count, 'frame')} from ${formatRunDuration(firstMs)} to ${formatRunDuration(lastMs)}, longest gap ${formatRunDuration(longestGapMs)}`;
  return (
    <figure className="frame-strip">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {series.map(({ atMs, frames }) => {
          const bar = Math.max(3, (frames / maxFrames) * height);
          const left = (atMs / Math.max(lastMs, 1)) * (width - 3);
          return <rect key={atMs} x={left} y={height - bar} width={3} height={bar} />;
        })}
      </svg>
      <figcaption className="caption tertiary">{text}</figcaption>
    </figure>
  );
}
