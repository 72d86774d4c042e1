import { parseArgs } from 'node:util';
import { clockChanges } from './random-config.ts';
import { VirtualWatches } from './virtual-watches.ts';

/**
 * Runs the whole service in virtual time, seed by seed. A failing seed is run again with `--from N --seeds 1`.
 * Usage: npm run simulate -- service
 *   --seeds 20       number of seeds
 *   --from 0         first seed
 *   --days 30        virtual days of each seed
 *   --interval 300   seconds between checks
 *   --faults 1       factor of the number of faults and requests
 *   --stop           ends with the first failure
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    from: { type: 'string', default: '0' },
    days: { type: 'string', default: '30' },
    interval: { type: 'string', default: '300' },
    faults: { type: 'string', default: '1' },
    stop: { type: 'boolean', default: false },
  },
});

const days = Number(values.days);
const from = Number(values.from);
const seeds = Number(values.seeds);
const intervalSeconds = Number(values.interval);
const faultRate = Number(values.faults);
let failures = 0;
const began = performance.now();
for (let seed = from; seed < from + seeds; seed += 1) {
  const seedBegan = performance.now();
  try {
    const options = { seed, startMs: findStart(seed), days, intervalSeconds, faultRate };
    const { ticks, openings, deliveries, kills, failedWrites, watchedShare, rows } = await new VirtualWatches(
      options,
    ).run();
    process.stdout.write(
      `seed ${seed}: ${ticks} ticks, ${openings} openings, ${deliveries} deliveries, ${kills} kills, ${failedWrites} failed writes, ` +
        `watched ${(100 * watchedShare).toFixed(1)} %, ${rows} rows, ${secondsSince(seedBegan)} s\n`,
    );
  } catch (error) {
    failures += 1;
    const again = `--from ${seed} --seeds 1 --days ${days} --interval ${intervalSeconds} --faults ${faultRate}`;
    process.stdout.write(`seed ${seed}: ${String(error)}\n  again: ${again}\n`);
    if (values.stop) break;
  }
}
process.stdout.write(
  `${seeds} seeds × ${days} days at ${intervalSeconds} s: ${failures} failures, ${secondsSince(began)} s\n`,
);
process.exitCode = failures === 0 ? 0 : 1;

/** Returns the start of a simulation, in epoch milliseconds: some clocks change in its first day. */
function findStart(seed: number): number {
  return Date.parse(clockChanges[seed % clockChanges.length]?.[0] ?? '');
}

function secondsSince(moment: number): string {
  return ((performance.now() - moment) / 1000).toFixed(1);
}
