import { statSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { join } from 'node:path';
import { createMomentTable } from '../adapters/embedded/runs/moment-table.ts';
import { createWordReader } from '../adapters/embedded/runs/word-reader.ts';
import { openDatabase } from '../adapters/embedded/sqlite/database.ts';
import { transaction } from '../adapters/embedded/sqlite/transaction.ts';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import { toStems } from '../core/memory/stems.ts';
import { describeMachine, quantile } from './harness.ts';
import { createMoments, rare } from './moments.ts';

/**
 * Measures searches by words in the memory of 25 watches on one machine: the time of a search, and the delay of the
 * event loop meanwhile; also the size on disk of the moments of a watch and day. Usage: npm run bench -- memory
 * [moments]
 */

const count = Number(process.argv[2] ?? 1_000_000);
const searches = 100;
const checksOfDay = 8_640;
const begin = Date.parse('2026-03-01T00:00:00Z');
const watchIds = Array.from(
  { length: 25 },
  (_, index) => `3f2504e0-4f89-41d3-9a0c-0305e82c${String(1000 + index)}`,
);
const newMoment = createMoments({ caller: 'bench', watchIds, begin, everyMs: 400 });

await using cleanup = new AsyncDisposableStack();
const { path: folder } = cleanup.use(openTemporaryFolder('bench-memory-'));
const file = join(folder, 'watchpost.sqlite');
const database = openDatabase(file);
const table = createMomentTable(database);
const emptyBytes = statSync(file).size;
const filledMs = measure(() => {
  for (let from = 0; from < count; from += 10_000)
    transaction(database, () => {
      for (let index = from; index < Math.min(count, from + 10_000); index += 1) table.add(newMoment(index));
    });
});
database.exec('PRAGMA wal_checkpoint(TRUNCATE)');

const span = {
  caller: 'bench',
  watches: watchIds.map((watchId) => ({ watchId, from: new Date(begin) })),
  to: new Date(begin + 400 * 86_400_000),
};
const reader = createWordReader(database);
const rows: Record<string, object> = {};
for (const query of [
  'white van',
  'a courier with a parcel at the door',
  rare,
  'nothing that is there: xylophone',
]) {
  const stems = { own: toStems(query), added: ['truck', 'lorri'].filter(() => query.includes('van')) };
  await reader.words(span, stems, 2_000, new Date(begin));
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const times: number[] = [];
  let matches = 0;
  for (let search = 0; search < searches; search += 1) {
    const beganMs = performance.now();
    matches = (await reader.words(span, stems, 2_000, new Date(begin))).matches.length;
    times.push(performance.now() - beganMs);
  }
  delay.disable();
  rows[query] = {
    matches,
    'p50 ms': round(quantile(times, 0.5)),
    'p95 ms': round(quantile(times, 0.95)),
    'loop p99 ms': round(delay.percentile(99) / 1e6),
  };
}
console.table(rows);
const bytes = (statSync(file).size - emptyBytes) / count;
console.log(
  `${count} moments of 25 watches, filled in ${round(filledMs / 1000)} s; ${Math.round(bytes)} bytes each, ${round((bytes * checksOfDay) / 1e6)} MB a watch and day of a check every 10 s, without pictures`,
);
console.log(describeMachine());

function measure(work: () => void): number {
  const beganMs = performance.now();
  work();
  return performance.now() - beganMs;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
