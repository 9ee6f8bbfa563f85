import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { killWhileExporting } from '../tests/support/kills-while-exporting.ts';
import { killWhileRecording } from '../tests/support/kills-while-recording.ts';
import { createRandom } from './support/text-writer.ts';
import { printReport, row, type Row } from './support/report.ts';

/**
 * Kills hosts that record runs (`--kills N`, 100 by default) and hosts that write evidence packs (`--packs N`, 4 by default, half
 * of them as folders, each killed up to 25 times). Every answered run must be stored, the database intact, and the pack equal byte
 * by byte. Exits with 1 after a failure. `--seed N` repeats the same times.
 */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    packs: { type: 'string', default: '4' },
    seed: { type: 'string', default: '1' },
  },
});
const random = createRandom(Number(values.seed));
const folder = mkdtempSync(join(tmpdir(), 'touchstone-kills-'));
const rows: Row[] = [];
const problems: string[] = [];

const recording = await killWhileRecording({
  directory: join(folder, 'recording'),
  kills: Number(values.kills),
  runsBefore: () => 1 + Math.floor(400 * random.next() ** 2),
});
problems.push(...recording.problems);
rows.push(
  row('hosts killed while recording', Number(values.kills), ''),
  row('runs that had been answered', recording.answered, ''),
  row('problems after recording', recording.problems.length, '', { max: 0 }),
);

let killed = 0;
for (let pack = 0; pack < Number(values.packs); pack += 1) {
  const report = await killWhileExporting({
    directory: join(folder, `pack-${pack}`),
    copy: join(folder, `whole-${pack}`),
    form: pack % 2 === 0 ? 'folder' : 'zip',
    conversations: 2000 + Math.floor(random.next() * 8000),
    maxKills: 25,
  });
  killed += report.kills;
  problems.push(...report.problems);
}
rows.push(
  row('hosts killed while writing a pack', killed, ''),
  row('packs that were gone on with', Number(values.packs), ''),
  row('problems of packs', problems.length - recording.problems.length, '', { max: 0 }),
);
rmSync(folder, { recursive: true, force: true });
for (const problem of problems) console.log(problem);
printReport('audit-kills', rows);
if (problems.length > 0) process.exitCode = 1;
