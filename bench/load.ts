import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureFfmpeg } from '../cli/ensure-ffmpeg.ts';
import { openTerminal } from '../cli/terminal.ts';
import { startCameras } from './load/cameras.ts';
import { plotCores, plotDelays } from './load/plot.ts';
import type { LoadPoint } from './load/plot.ts';
import { readProcessorTimes } from './load/processor-times.ts';
import { openService, quantile } from './load/service.ts';

/**
 * Measures what checks cost on this machine, with monitors in `frames` mode. Prints the processor time per check (service and its ffmpeg
 * processes; the streams come from another process) and the delay of checks. Several loads run after one another.
 * Usage: node bench/load.ts [jobs x sources …], for example `node bench/load.ts 1x1 40x40 300x300`
 *   --interval 10    seconds between the checks of a job
 *   --model pixel    or `objects`
 *   --judged 100     percent of the jobs whose every frame is judged; the others have the pre-filter and a still picture
 *   --seconds 40     duration of the measurement
 *   --ffmpeg PATH
 *   --plot           writes `bench/results/load-delays.svg` and `load-cores.svg`, of loads with a stream per job
 */

type Load = { jobs: number; sources: number };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    interval: { type: 'string', default: '10' },
    model: { type: 'string', default: 'pixel' },
    judged: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '40' },
    ffmpeg: { type: 'string', default: '' },
    plot: { type: 'boolean', default: false },
  },
});
const intervalSeconds = Number(values.interval);
const loads = (positionals.length === 0 ? ['1x1', '40x40'] : positionals).map(readLoad);

await using cleanup = new AsyncDisposableStack();
const ffmpeg = await ensureFfmpeg(values.ffmpeg, process.env, openTerminal(process.env));
const cameras = cleanup.use(
  await startCameras(ffmpeg.path, Math.max(...loads.map(({ sources }) => sources))),
);

const bareMs = bareFrameMs();
const rows: Record<string, object> = {};
const points: (LoadPoint & Load)[] = [];
for (const load of loads) {
  const { point, row } = await measure(load);
  points.push(point);
  rows[`${load.jobs}x${load.sources}`] = row;
}
console.table(rows);
for (const [at, { jobs, sources, cores }] of points.entries()) {
  const base = points.slice(0, at).find((other) => other.sources === sources && other.jobs < jobs);
  if (base !== undefined)
    console.log(
      `${jobs} jobs cost ${round(cores / base.cores)} times what ${base.jobs} jobs on the same ${sources} sources cost, in processor time of the service and ffmpeg`,
    );
}
console.log(`processor time of bare ffmpeg for one frame of a stream: ${round(bareMs)} ms`);
console.log(
  `load average of the last minute: ${loadavg()[0]?.toFixed(2)}; ffmpeg ${ffmpeg.version} at ${ffmpeg.path}`,
);
if (values.plot) {
  const distinct = points.filter(({ jobs, sources }) => jobs === sources);
  const folder = join(import.meta.dirname, 'results');
  writeFileSync(join(folder, 'load-delays.svg'), plotDelays(distinct));
  writeFileSync(join(folder, 'load-cores.svg'), plotCores(distinct));
}

function readLoad(name: string): Load {
  const [, jobs, sources] = /^(\d+)x(\d+)$/.exec(name) ?? [];
  if (jobs === undefined) throw new Error(`"${name}" is not a load such as 40x40.`);
  return { jobs: Number(jobs), sources: Number(sources) };
}

async function measure({ jobs, sources }: Load) {
  await using service = await openService({ ffmpeg, jobs, settings: { vision: values.model } });
  for (let index = 0; index < jobs; index += 1) {
    const judged = (index * 100) / jobs < Number(values.judged);
    await service.startMonitor(cameras.cameraUrl(index % sources, judged ? 'moving' : 'still'), {
      condition: values.model === 'objects' ? 'A person is in the picture' : 'The picture is entirely black',
      interval_seconds: intervalSeconds,
      enable_prefilter: !judged,
    });
  }
  await sleep(2 * intervalSeconds * 1000);
  // Counting is a request per job, so it is outside of the measured time.
  const checksBefore = await service.countChecks();
  const before = readProcessorTimes([cameras.pid]);
  const started = performance.now();
  await sleep(Number(values.seconds) * 1000);
  const after = readProcessorTimes([cameras.pid]);
  const elapsedMs = performance.now() - started;
  const byJob = (await service.countChecks()).map((count, index) => count - (checksBefore[index] ?? 0));
  const sorted = byJob.toSorted((a, b) => a - b);
  const checks = sorted.reduce((sum, count) => sum + count, 0);
  const delays = await service.readDelays();
  const ownMs = after.ownMs - before.ownMs;
  const usedMs = ownMs + after.childrenMs - before.childrenMs;
  const point = {
    jobs,
    sources,
    cores: usedMs / elapsedMs,
    delayP50Ms: quantile(delays, 0.5),
    delayP95Ms: quantile(delays, 0.95),
  };
  const row = {
    checks,
    expected: Math.round((jobs * elapsedMs) / 1000 / intervalSeconds),
    'least of median': round((sorted[0] ?? 0) / quantile(sorted, 0.5)),
    'cores used': Math.round(point.cores * 1000) / 1000,
    'ms a check': round(usedMs / checks),
    'of which Node': round(ownMs / checks),
    'of bare ffmpeg': round(usedMs / checks / bareMs),
    'delay p50 ms': point.delayP50Ms,
    'p95 ms': point.delayP95Ms,
    'resident MB': Math.round(process.memoryUsage.rss() / 1e6),
  };
  return { point, row };
}

/** Measures the processor time of ffmpeg as its users call it, for the newest frame of a stream: the mean of nine runs. */
function bareFrameMs(): number {
  const runs = 9;
  const input = ['-live_start_index', '-1', '-i', cameras.cameraUrl(0)];
  const before = readProcessorTimes([cameras.pid]);
  for (let run = 0; run < runs; run += 1)
    spawnSync(ffmpeg.path, ['-loglevel', 'fatal', ...input, '-frames:v', '1', '-f', 'mjpeg', '-'], {
      stdio: 'ignore',
    });
  return (readProcessorTimes([cameras.pid]).childrenMs - before.childrenMs) / runs;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
