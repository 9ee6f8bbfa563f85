/**
 * A host that reads one HTML file, given by its path. As soon as it is in the middle of that, it tells its parent the id of the
 * process that reads.
 */
import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { createSourceReader } from '../../electron/knowledge/parsing/source-reader.ts';

const [path = ''] = process.argv.slice(2);
let reading: ChildProcess | null = null;
subscribe('child_process', (message) => {
  reading = (message as { readonly process: ChildProcess }).process;
});
await createSourceReader().readSource(
  { path, fileName: 'a.html', mediaType: 'text/html' },
  { signal: new AbortController().signal, onProgress: () => process.send?.({ processId: reading?.pid }) },
);
