import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import { WatchpostError } from '../client/index.ts';
import {
  describeMachine,
  findFfmpeg,
  quantile,
  readProcessorTimes,
  readResidentMb,
  round,
  startProcess,
} from './harness.ts';
import { measureFairness } from './load/fairness.ts';
import { type Picture, recordCameras } from './load/pictures.ts';
import { type BenchService, openService } from './service.ts';
import { startStreams } from './streams.ts';

/**
 * Measures what checks cost on this machine, with monitors or watches in `frames` mode. Prints the processor time per check (service and its ffmpeg
 * processes; the streams come from another process), the delay of checks, and the checks that motion caused. Several loads run after one another.
 * Usage: node bench/load.ts [jobs x sources …], for example `node bench/load.ts 1x1 40x40 300x300`
 *   --interval 10    seconds between the checks of a job
 *   --model pixel    or `objects`
 *   --judged 100     percent of the jobs whose every frame is judged; the others have the pre-filter and a still picture
 *   --look-back      captures scan the stream since the last one
 *   --rtsp           cameras instead of HLS streams
 *   --watches        watches instead of monitors; with `--look-back`, motion wakes those of cameras
 *   --no-wakes       motion causes no check
 *   --visits 0       seconds between two visits in the still pictures; 0: none
 *   --seconds 40     duration of the measurement
 *   --readers 0      event streams of another process, and the delay from an event's timestamp to its arrival
 *   --ffmpeg PATH
 *   --fairness       overloads the service instead, and prints how it treats its jobs (about five minutes a load)
 */

type Load = { jobs: number; sources: number };

const warmUpSeconds = 30;
const settleSeconds = 15;
const idleSeconds = 20;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    interval: { type: 'string', default: '10' },
    model: { type: 'string', default: 'pixel' },
    judged: { type: 'string', default: '100' },
    'look-back': { type: 'boolean', default: false },
    rtsp: { type: 'boolean', default: false },
    watches: { type: 'boolean', default: false },
    'no-wakes': { type: 'boolean', default: false },
    visits: { type: 'string', default: '0' },
    seconds: { type: 'string', default: '40' },
    readers: { type: 'string', default: '0' },
    ffmpeg: { type: 'string' },
    fairness: { type: 'boolean', default: false },
  },
});
const intervalSeconds = Number(values.interval);
const readers = Number(values.readers);
const judgedPercent = Number(values.judged);
const visitSeconds = Number(values.visits);
const unjudged: Picture = visitSeconds > 0 ? 'visited' : 'still';
const pictures: Picture[] = [
  ...(judgedPercent > 0 ? (['moving'] as const) : []),
  ...(judgedPercent < 100 ? [unjudged] : []),
];
const loads = (positionals.length === 0 ? ['1x1', '40x40'] : positionals).map(readLoad);

await using cleanup = new AsyncDisposableStack();
const ffmpeg = await findFfmpeg(values.ffmpeg);
const { path: directory } = cleanup.use(openTemporaryFolder('bench-load-'));
const cameras = cleanup.use(await startCameras());

if (values.fairness) await printFairness();
else await printCosts();
console.log(describeMachine(ffmpeg));

async function startCameras() {
  const sources = Math.max(...loads.map((load) => load.sources));
  const wanted = { sources, pictures, visitSeconds, isRtsp: values.rtsp };
  const streams = await recordCameras(ffmpeg.path, directory, wanted);
  return startStreams({ ffmpegPath: ffmpeg.path, ageSeconds: 30, delayMs: 0, streams });
}

async function printFairness(): Promise<void> {
  for (const load of loads) console.table({ [`${load.jobs}x${load.sources}`]: await overload(load) });
}

async function printCosts(): Promise<void> {
  await warmUp();
  const idleCores = await measureIdle();
  const bareMs = bareFrameMs();
  const rows: Record<string, object> = {};
  const points: (Load & { cores: number })[] = [];
  for (const load of loads) {
    const { cores, row } = await measure(load, bareMs);
    points.push({ ...load, cores });
    rows[`${load.jobs}x${load.sources}`] = row;
  }
  console.table(rows);
  for (const [at, { jobs, sources, cores }] of points.entries()) {
    const base = points.slice(0, at).find((other) => other.sources === sources && other.jobs < jobs);
    if (base !== undefined)
      console.log(
        `${jobs} jobs cost ${round(cores / base.cores)} times what ${base.jobs} jobs on the same ${sources} sources cost ` +
          `(${round((cores - idleCores) / (base.cores - idleCores))} times without what a service without jobs costs)`,
      );
  }
  console.log(`a service without jobs uses ${idleCores.toFixed(4)} cores`);
  console.log(`processor time of bare ffmpeg for one frame of a stream: ${round(bareMs)} ms`);
}

function readLoad(name: string): Load {
  const [, jobs, sources] = /^(\d+)x(\d+)$/.exec(name) ?? [];
  if (jobs === undefined) throw new Error(`"${name}" is not a load such as 40x40.`);
  return { jobs: Number(jobs), sources: Number(sources) };
}

/** Runs many jobs with short intervals, so that no measurement contains the compilation of code: a service runs for days. */
async function warmUp(): Promise<void> {
  const jobs = Math.min(Math.max(...loads.map((load) => load.jobs)), values.model === 'objects' ? 20 : 100);
  const sources = Math.min(Math.max(...loads.map((load) => load.sources)), jobs, 10);
  await using service = await openWith(jobs);
  for (let index = 0; index < jobs; index += 1) await startJob(service, { jobs, sources }, index, 5);
  await sleep(warmUpSeconds * 1000);
}

/** Returns the cores that a service without jobs uses, after the work of its start. */
async function measureIdle(): Promise<number> {
  await using _service = await openWith(1);
  await sleep(settleSeconds * 1000);
  const { usedMs, elapsedMs } = await countProcessorTime(idleSeconds);
  return usedMs / elapsedMs;
}

async function countProcessorTime(seconds: number) {
  const before = readProcessorTimes();
  const started = performance.now();
  await sleep(seconds * 1000);
  const after = readProcessorTimes();
  const ownMs = after.ownMs - before.ownMs;
  const usedMs = ownMs + after.childrenMs - before.childrenMs;
  return { ownMs, usedMs, elapsedMs: performance.now() - started };
}

async function openWith(jobs: number): Promise<BenchService> {
  const eventStreamsPerCaller = String(Math.max(readers, 10));
  const wakes = !values['no-wakes'];
  return openService({ ffmpeg, jobs, wakes, settings: { vision: values.model, eventStreamsPerCaller } });
}

async function startJob(
  service: BenchService,
  { jobs, sources }: Load,
  index: number,
  seconds: number,
): Promise<void> {
  const judged = (index * 100) / jobs < judgedPercent;
  const url = cameras.url(`${judged ? 'moving' : unjudged}-${index % sources}`);
  const condition =
    values.model === 'objects' ? 'A person is in the picture' : 'The picture is entirely black';
  const fields = {
    interval_seconds: seconds,
    enable_prefilter: !judged,
    look_back: values['look-back'],
  };
  if (values.watches) await service.startWatch(url, { ...fields, conditions: [{ condition }] });
  else await service.startMonitor(url, { ...fields, condition });
}

async function overload(load: Load) {
  await using service = await openWith(load.jobs + 1);
  return await measureFairness(service, {
    jobs: load.jobs,
    intervalSeconds,
    seconds: Number(values.seconds),
    startJob: async (index) => {
      try {
        await startJob(service, load, index, intervalSeconds);
        return true;
      } catch (error) {
        if (!(error instanceof WatchpostError) || error.code !== 'SERVICE_OVERLOADED') throw error;
        return false;
      }
    },
  });
}

async function measure({ jobs, sources }: Load, bareMs: number) {
  await using service = await openWith(jobs);
  for (let index = 0; index < jobs; index += 1)
    await startJob(service, { jobs, sources }, index, intervalSeconds);
  await sleep(2 * intervalSeconds * 1000);
  await using reading = readers === 0 ? undefined : await startReaders(service, jobs);
  // Counting is a request per job, so it is outside of the measured time.
  const checksBefore = await service.countChecks();
  const residentBefore = readResidentMb();
  const sinceMs = Date.now();
  const { ownMs, usedMs, elapsedMs } = await countProcessorTime(Number(values.seconds));
  const resident = readResidentMb();
  const byJob = (await service.countChecks()).map((count, index) => count - (checksBefore[index] ?? 0));
  const checks = byJob.reduce((sum, count) => sum + count, 0);
  const measured = await service.readAllDelays(sinceMs);
  const delays = measured.flatMap(({ checksMs }) => checksMs);
  const eventDelays: number[] = reading === undefined ? [] : JSON.parse(await reading.ask('delays'));
  const cores = usedMs / elapsedMs;
  const row = {
    checks,
    expected: Math.round((jobs * elapsedMs) / 1000 / intervalSeconds),
    'least of median': round(Math.min(...byJob) / quantile(byJob, 0.5)),
    ...(values.watches && { 'of them woken': measured.reduce((sum, { woken }) => sum + woken, 0) }),
    'cores used': round(cores, 3),
    'ms a check': round(usedMs / checks),
    'of which Node': round(ownMs / checks),
    'ms a stream-second': round(usedMs / (elapsedMs / 1000) / sources),
    'of bare ffmpeg': round(usedMs / checks / bareMs),
    'delay p50 ms': quantile(delays, 0.5),
    'p95 ms': quantile(delays, 0.95),
    'resident MB': resident.own,
    'growth MB': resident.own - residentBefore.own,
    'ffmpeg MB': resident.children,
    ...(reading && {
      'events read': eventDelays.length,
      'event delay p50 ms': quantile(eventDelays, 0.5),
      'p99 ms': quantile(eventDelays, 0.99),
    }),
  };
  return { cores, row };
}

async function startReaders(service: BenchService, jobs: number) {
  const perJob = String(Math.ceil(readers / jobs));
  return startProcess('load/readers-process.ts', perJob, service.apiKey, ...service.eventUrls());
}

/** Measures the processor time of ffmpeg as its users call it, for the newest frame of a stream: the mean of nine runs. */
function bareFrameMs(): number {
  const runs = 9;
  const options = values.rtsp ? ['-rtsp_transport', 'tcp'] : ['-live_start_index', '-1'];
  const input = [...options, '-i', cameras.url(`${pictures[0]}-0`)];
  const before = readProcessorTimes();
  for (let run = 0; run < runs; run += 1)
    spawnSync(ffmpeg.path, ['-loglevel', 'fatal', ...input, '-frames:v', '1', '-f', 'mjpeg', '-'], {
      stdio: 'ignore',
    });
  return (readProcessorTimes().childrenMs - before.childrenMs) / runs;
}
