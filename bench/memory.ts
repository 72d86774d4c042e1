import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { measureService } from './memory/real-load.ts';
import { computeSlope } from './memory/slope.ts';
import type { Sample } from './memory/slope.ts';
import { runVirtualLoad } from './memory/virtual-load.ts';

/**
 * Prints the memory of the service under load. By default eight hours of virtual time with 40 jobs at 10 s, each half hour after a garbage
 * collection. With `--real 10` ten minutes of a service as a process, with ffmpeg and HLS streams.
 * Usage: node bench/memory.ts [--hours 8] [--jobs 40] [--interval 10] [--real MINUTES [--model pixel]]
 */

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '8' },
    jobs: { type: 'string', default: '40' },
    interval: { type: 'string', default: '10' },
    real: { type: 'string' },
    model: { type: 'string', default: 'pixel' },
  },
});
const count = Number(values.jobs);
const intervalSeconds = Number(values.interval);
if (values.real === undefined) await measureVirtual();
else
  await measureService({ jobs: count, minutes: Number(values.real), intervalSeconds, model: values.model });
console.log(`load average of the last minute: ${loadavg()[0]?.toFixed(2)}`);

async function measureVirtual(): Promise<void> {
  setFlagsFromString('--expose_gc');
  const collect: () => void = runInNewContext('gc');
  const samples: Sample[] = [];
  await runVirtualLoad({
    count,
    hours: Number(values.hours),
    intervalSeconds,
    sample: (hours, { checks, jobsMade }) => {
      // Twice, because finalizers of the first collection release further objects.
      collect();
      collect();
      const { heapUsed, heapTotal, rss, external } = process.memoryUsage();
      const megabytes = (bytes: number) => Math.round(bytes / 1e5) / 10;
      samples.push({ hours, heapMb: megabytes(heapUsed), residentMb: megabytes(rss) });
      console.log(
        `${hours.toFixed(1)} h: heap ${megabytes(heapUsed)} of ${megabytes(heapTotal)} MB, external ${megabytes(external)} MB, resident ${megabytes(rss)} MB, ` +
          `${checks} checks, ${jobsMade} jobs made`,
      );
    },
  });
  const settled = samples.filter(({ hours }) => hours >= 2);
  const heap = computeSlope(settled, ({ heapMb }) => heapMb);
  const resident = computeSlope(settled, ({ residentMb }) => residentMb);
  console.log(
    `growth per hour from the second hour on: heap ${heap.toFixed(2)} MB, resident ${resident.toFixed(2)} MB`,
  );
}
