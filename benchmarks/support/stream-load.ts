import { type Agent, request } from 'node:http';
import type { Target } from './load.ts';

/** What one caller saw of a stream. */
export interface StreamRecord {
  frames: number;
  /** Milliseconds from the request to the first frame. */
  firstMs: number | null;
}

const dataField = Buffer.from('data: {');
const stampPattern = /(\d{13}\.\d{3}) /g;

/** Opens one stream and reads it to its end. `onStamps` gets the times that paced frames carry. */
export function readStream(
  target: Target,
  agent: Agent,
  record: StreamRecord,
  onStamps?: (stamps: number[]) => void,
): Promise<void> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: target.port,
        path: target.path,
        method: 'POST',
        agent,
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream',
          'content-length': String(Buffer.byteLength(target.body)),
          ...target.headers,
        },
      },
      (incoming) => {
        if (incoming.statusCode !== 200) reject(new Error(`${target.path} answered ${incoming.statusCode}`));
        let rest: Buffer = Buffer.alloc(0);
        incoming.on('data', (chunk: Buffer) => {
          record.firstMs ??= performance.now() - startedAt;
          const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
          const lineEnd = bytes.lastIndexOf(10) + 1;
          rest = bytes.subarray(lineEnd);
          const lines = bytes.subarray(0, lineEnd);
          for (let at = lines.indexOf(dataField); at >= 0; at = lines.indexOf(dataField, at + dataField.length))
            record.frames += 1;
          if (onStamps)
            onStamps([...lines.toString('latin1').matchAll(stampPattern)].map(([, stamp]) => Number(stamp)));
        });
        incoming.on('error', reject);
        incoming.on('end', resolve);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(target.body);
  });
}
