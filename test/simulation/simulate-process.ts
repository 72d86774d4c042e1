import { parseArgs } from 'node:util';
import { VirtualWatch } from './rules/virtual-watch.ts';
import { VirtualWatches } from './virtual-watches.ts';

/**
 * Runs a world in virtual time, seed by seed: `npm run simulate -- rules --seeds 200 --days 30 --interval 10` one watch on the pure core,
 * `npm run simulate -- service --seeds 20 --days 30` the whole service. A failing seed is run again with `--from N --seeds 1`.
 */
type World = {
  seeds: number;
  intervalSeconds: number;
  /** Runs a seed and describes it. Throws at the first difference. */
  run: (options: { seed: number; startMs: number; days: number; intervalSeconds: number }) => Promise<string>;
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '0' },
    days: { type: 'string', default: '30' },
    interval: { type: 'string' },
    /** Factor of the faults of the service. */
    faults: { type: 'string', default: '1' },
    /** Ends with the first failure. */
    stop: { type: 'boolean', default: false },
  },
});

const worlds: Record<string, World> = {
  rules: {
    seeds: 200,
    intervalSeconds: 10,
    run: async ({ seed, startMs, days, intervalSeconds }) => {
      const { ticks, openings } = new VirtualWatch(seed, startMs, intervalSeconds).run(
        startMs + days * 86_400_000,
      );
      return `${ticks} ticks, ${openings} openings`;
    },
  },
  service: {
    seeds: 20,
    intervalSeconds: 300,
    run: async (options) => {
      const watches = new VirtualWatches({ ...options, faultRate: Number(values.faults) });
      const { ticks, openings, deliveries, kills, failedWrites, watchedShare, rows } = await watches.run();
      const watched = `watched ${(100 * watchedShare).toFixed(1)} %, ${rows} rows`;
      return `${ticks} ticks, ${openings} openings, ${deliveries} deliveries, ${kills} kills, ${failedWrites} failed writes, ${watched}`;
    },
  },
};

const [name = ''] = positionals;
const world = worlds[name];
if (!world) throw new Error(`Name one of: ${Object.keys(worlds).join(', ')}`);
const days = Number(values.days);
const from = Number(values.from);
const seeds = Number(values.seeds ?? world.seeds);
const intervalSeconds = Number(values.interval ?? world.intervalSeconds);
let failures = 0;
const began = performance.now();
for (let seed = from; seed < from + seeds; seed += 1) {
  const seedBegan = performance.now();
  try {
    const done = await world.run({ seed, startMs: findStart(seed), days, intervalSeconds });
    process.stdout.write(`seed ${seed}: ${done}, ${secondsSince(seedBegan)} s\n`);
  } catch (error) {
    failures += 1;
    const again = `${name} --from ${seed} --seeds 1 --days ${days} --interval ${intervalSeconds} --faults ${values.faults}`;
    process.stdout.write(`seed ${seed}: ${String(error)}\n  again: ${again}\n`);
    if (values.stop) break;
  }
}
process.stdout.write(
  `${seeds} seeds × ${days} days at ${intervalSeconds} s: ${failures} failures, ${secondsSince(began)} s\n`,
);
process.exitCode = failures === 0 ? 0 : 1;

/**
 * Returns the start of a virtual month, in epoch milliseconds. In the first, daylight saving begins in New York after a day and in Berlin after three
 * weeks, and ends on Lord Howe Island before its end. In the second, it ends in Berlin and New York.
 */
function findStart(seed: number): number {
  return Date.parse(seed % 3 === 2 ? '2026-10-20T12:00:00Z' : '2026-03-07T12:00:00Z');
}

function secondsSince(moment: number): string {
  return ((performance.now() - moment) / 1000).toFixed(1);
}
