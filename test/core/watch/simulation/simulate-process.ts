import { parseArgs } from 'node:util';
import { findStart } from './find-start.ts';
import { VirtualWatch } from './virtual-watch.ts';

/** Runs virtual watches of many seeds: `npm run simulate -- --seeds 200 --days 30 --interval 10`. */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '0' },
    days: { type: 'string', default: '30' },
    interval: { type: 'string', default: '10' },
    /** Ends with the first difference. */
    stop: { type: 'boolean', default: false },
  },
});
const from = Number(values.from);
const days = Number(values.days);
let failures = 0;
let ticks = 0;
let openings = 0;
const began = performance.now();
for (let seed = from; seed < from + Number(values.seeds); seed += 1) {
  const startAt = findStart(seed);
  try {
    const summary = new VirtualWatch(seed, startAt, Number(values.interval)).run(startAt + days * 86_400_000);
    ticks += summary.ticks;
    openings += summary.openings;
  } catch (error) {
    failures += 1;
    process.stdout.write(`seed ${seed}: ${String(error)}\n`);
    if (values.stop) break;
  }
}
const seconds = Math.round((performance.now() - began) / 1000);
process.stdout.write(
  `${values.seeds} seeds × ${days} days at ${values.interval} s: ${ticks} ticks, ${openings} openings, ${failures} failures, ${seconds} s\n`,
);
process.exitCode = failures === 0 ? 0 : 1;
