import { writeSync } from 'node:fs';
import { openStorage } from '../../../../electron/storage/open-storage.ts';
import { openPacks } from '../../../support/kills-while-exporting.ts';

// Goes on with the pack of a folder; prints how far it is after each change, and `done` when it is whole.
const directory = process.argv[2]!;
const storage = openStorage({ directory });
const exports = await openPacks(storage, directory);

// Telling of changes keeps no process alive.
const alive = setInterval(() => {}, 1000);

exports.subscribe(([pack]) => {
  if (pack!.state === 'running') {
    writeSync(1, `${pack!.conversationsDone} ${pack!.step}\n`);
    return;
  }
  writeSync(1, 'done\n');
  clearInterval(alive);
  void exports.close().then(() => storage.close());
});
