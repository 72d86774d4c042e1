import { parseArgs } from 'node:util';
import { findStart } from '../core/watch/simulation/find-start.ts';
import { VirtualService } from './virtual-service.ts';

/** Runs the whole service in virtual time, seed by seed: `npm run simulate -- service --seeds 20 --days 30`. A failing seed is run again with `--from N --seeds 1`. */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    from: { type: 'string', default: '0' },
    days: { type: 'string', default: '30' },
    interval: { type: 'string', default: '300' },
    faults: { type: 'string', default: '1' },
    /** Ends with the first failure. */
    stop: { type: 'boolean', default: false },
  },
});
const days = Number(values.days);
const intervalSeconds = Number(values.interval);
const from = Number(values.from);
const faultRate = Number(values.faults);
let failures = 0;
const began = performance.now();
for (let seed = from; seed < from + Number(values.seeds); seed += 1) {
  const seedBegan = performance.now();
  try {
    const summary = await new VirtualService({
      seed,
      startMs: findStart(seed),
      days,
      intervalSeconds,
      faultRate,
    }).run();
    const { ticks, openings, deliveries, kills, failedWrites, watchedShare, rows } = summary;
    const seconds = ((performance.now() - seedBegan) / 1000).toFixed(1);
    process.stdout.write(
      `seed ${seed}: ${ticks} ticks, ${openings} openings, ${deliveries} deliveries, ${kills} kills, ${failedWrites} failed writes, ` +
        `watched ${(100 * watchedShare).toFixed(1)} %, ${rows} rows, ${seconds} s\n`,
    );
  } catch (error) {
    failures += 1;
    const message = error instanceof Error ? error.message : String(error);
    process.stdout.write(
      `${message}\n  again: --from ${seed} --seeds 1 --days ${days} --interval ${intervalSeconds} --faults ${faultRate}\n`,
    );
    if (values.stop) break;
  }
}
const seconds = Math.round((performance.now() - began) / 1000);
process.stdout.write(
  `${values.seeds} seeds × ${days} days at ${intervalSeconds} s: ${failures} failures, ${seconds} s\n`,
);
process.exitCode = failures === 0 ? 0 : 1;
