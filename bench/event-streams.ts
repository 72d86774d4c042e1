import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureFfmpeg } from '../cli/ensure-ffmpeg.ts';
import { openTerminal } from '../cli/terminal.ts';
import { startCameras } from './load/cameras.ts';
import { readProcessorTimes } from './load/processor-times.ts';
import { openService, quantile } from './load/service.ts';

/**
 * Measures event streams of a service on one machine: the delay from an event's timestamp to its arrival at each reader, and the processor time
 * with and without readers. The readers run in another process.
 * Usage: node bench/event-streams.ts [--readers 1000] [--jobs 10] [--seconds 40]
 */

const { values } = parseArgs({
  options: {
    readers: { type: 'string', default: '1000' },
    jobs: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '40' },
  },
});
const jobs = Number(values.jobs);
const perJob = Math.ceil(Number(values.readers) / jobs);
const measuredMs = Number(values.seconds) * 1000;

await using cleanup = new AsyncDisposableStack();
const ffmpeg = await ensureFfmpeg('', process.env, openTerminal(process.env));
const cameras = cleanup.use(await startCameras(ffmpeg.path, jobs));
const settings = { vision: 'pixel', eventStreamsPerCaller: String(Math.min(1000, perJob * jobs)) };
const service = cleanup.use(await openService({ ffmpeg, jobs, settings }));
for (let index = 0; index < jobs; index += 1)
  await service.startMonitor(cameras.cameraUrl(index), { enable_prefilter: false });
await sleep(10_000);
const alone = await coresUsed([cameras.pid]);

const readers = spawn(
  process.execPath,
  [
    join(import.meta.dirname, 'load/readers-process.ts'),
    String(perJob),
    service.apiKey,
    ...service.eventUrls(),
  ],
  { stdio: ['pipe', 'pipe', 'inherit'] },
);
cleanup.defer(() => void readers.kill());
const lines = createInterface(readers.stdout);
await once(lines, 'line');
const read = await coresUsed([cameras.pid, readers.pid]);
readers.stdin.write('\n');
const [line] = await once(lines, 'line');
const delays: number[] = JSON.parse(String(line)).toSorted((a: number, b: number) => a - b);

console.table([
  {
    jobs,
    readers: perJob * jobs,
    'events received': delays.length,
    'delay p50 ms': quantile(delays, 0.5),
    'p99 ms': quantile(delays, 0.99),
    'cores with readers': read,
    'without readers': alone,
  },
]);
console.log(`load average of the last minute: ${loadavg()[0]?.toFixed(2)}`);

async function coresUsed(excluded: readonly (number | undefined)[]): Promise<number> {
  const before = readProcessorTimes(excluded);
  const started = performance.now();
  await sleep(measuredMs);
  const after = readProcessorTimes(excluded);
  const used = after.ownMs + after.childrenMs - before.ownMs - before.childrenMs;
  return Math.round((used / (performance.now() - started)) * 100) / 100;
}
