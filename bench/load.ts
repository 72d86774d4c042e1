import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
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
import { type BenchService, openService } from './service.ts';
import { type LiveStream, type Part, runFfmpeg, startStreams, words } from './streams.ts';

/**
 * Measures what checks cost on this machine, with monitors or watches in `frames` mode and the `pixel` model. Prints the processor time per check (service and its
 * ffmpeg processes; the streams come from another process), the delay of checks, and the checks that motion caused. Several loads run after one another.
 * Usage: node bench/load.ts [jobs x sources …], for example `node bench/load.ts 1x1 40x40 300x300`
 *   --interval 10    seconds between the checks of a job
 *   --judged 100     percent of the jobs whose every frame is judged; the others have the pre-filter and a still picture
 *   --look-back      captures scan the stream since the last one
 *   --rtsp           cameras instead of HLS streams
 *   --watches        watches instead of monitors; with `--look-back`, motion wakes those of cameras
 *   --no-wakes       motion causes no check
 *   --visits 0       seconds between two visits in the still pictures; 0: none
 *   --seconds 40     duration of the measurement
 *   --readers 0      event streams of another process, and the delay from an event's timestamp to its arrival
 *   --fairness       overloads the service instead, and prints how it treats its jobs (about five minutes a load)
 */

type Load = { jobs: number; sources: number };
/** `moving`: every frame differs. `still`: one picture. `visited`: one picture, with something that moves for 6 s of each visit. */
type Picture = 'moving' | 'still' | 'visited';

type Recording = { graph: string; seconds: number; part: (index: number) => Part };

const warmUpSeconds = 30;
const [framesPerSecond, groupSeconds] = [30, 2];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    interval: { type: 'string', default: '10' },
    judged: { type: 'string', default: '100' },
    'look-back': { type: 'boolean', default: false },
    rtsp: { type: 'boolean', default: false },
    watches: { type: 'boolean', default: false },
    'no-wakes': { type: 'boolean', default: false },
    visits: { type: 'string', default: '0' },
    seconds: { type: 'string', default: '40' },
    readers: { type: 'string', default: '0' },
    fairness: { type: 'boolean', default: false },
  },
});
const intervalSeconds = Number(values.interval);
const readers = Number(values.readers);
const judgedPercent = Number(values.judged);
const visitSeconds = Number(values.visits);
const unjudged: Picture = visitSeconds > 0 ? 'visited' : 'still';
const pictures: Picture[] =
  judgedPercent === 0 ? [unjudged] : judgedPercent === 100 ? ['moving'] : ['moving', unjudged];
const loads = (positionals.length === 0 ? ['1x1', '40x40'] : positionals).map(readLoad);

await using cleanup = new AsyncDisposableStack();
const ffmpeg = await findFfmpeg();
const { path: directory } = cleanup.use(openTemporaryFolder('bench-load-'));
const live = await recordCameras(Math.max(...loads.map(({ sources }) => sources)));
const cameras = cleanup.use(
  await startStreams({ ffmpegPath: ffmpeg.path, ageSeconds: 30, delayMs: 0, streams: live }),
);
if (values.fairness)
  for (const load of loads) console.table({ [`${load.jobs}x${load.sources}`]: await overload(load) });
else await printCosts();
console.log(describeMachine(ffmpeg));

function readLoad(name: string): Load {
  const [, jobs, sources] = /^(\d+)x(\d+)$/.exec(name) ?? [];
  if (jobs === undefined) throw new Error(`"${name}" is not a load such as 40x40.`);
  return { jobs: Number(jobs), sources: Number(sources) };
}

/**
 * Records 720p30, and returns `sources` streams of each kind of picture, named `moving-0`: no encoder runs during the measurement. Streams that move begin at
 * different places of a long recording, and still ones have a picture each, so that no two of them show the same picture at nearly the same time: the service
 * would judge it once.
 */
async function recordCameras(sources: number): Promise<LiveStream[]> {
  const recordings = describeRecordings(sources);
  const streams: LiveStream[] = [];
  for (const picture of pictures) {
    const { graph, seconds, part } = recordings[picture];
    const file = join(directory, `${picture}.mp4`);
    const group = groupSeconds * framesPerSecond;
    const encoding = `-t ${seconds} -c:v libx264 -preset ultrafast -b:v 3M -g ${group} -keyint_min ${group} -sc_threshold 0 -pix_fmt yuv420p`;
    await runFfmpeg(ffmpeg.path, ['-f', 'lavfi', '-i', graph, ...words(encoding), file]);
    for (let index = 0; index < sources; index += 1)
      streams.push({
        name: `${picture}-${index}`,
        renditions: [{ height: 720, file }],
        framesPerSecond,
        segmentSeconds: values.rtsp ? 0 : groupSeconds,
        part: part(index),
      });
  }
  return streams;
}

function describeRecordings(sources: number): Record<Picture, Recording> {
  // At least 8 s between two streams, or so many streams that the service keeps no picture for that long.
  const movingSeconds = Math.max(4 * Math.min(sources, 40), sources) * groupSeconds;
  const stills = Math.min(sources, 100);
  const visited = Math.min(sources, 10);
  const source = 'testsrc2=size=1280x720';
  const visitor = `overlay=y=260:x='mod(t,${visitSeconds})*220':enable='lt(mod(t,${visitSeconds}),6)'`;
  return {
    moving: {
      graph: `${source}:rate=30`,
      seconds: movingSeconds,
      part: (index) => ({
        fromSeconds: 0,
        seconds: movingSeconds,
        beginsAtSeconds: Math.floor((index * movingSeconds) / groupSeconds / sources) * groupSeconds,
      }),
    },
    still: {
      graph: `${source}:rate=1/${groupSeconds},fps=30`,
      seconds: stills * groupSeconds,
      part: (index) => ({
        fromSeconds: (index % stills) * groupSeconds,
        seconds: groupSeconds,
        beginsAtSeconds: 0,
      }),
    },
    visited: {
      graph: `${source}:rate=1/${visitSeconds},fps=30,noise=alls=4:allf=t[scene];color=red:size=120x240:rate=30[visitor];[scene][visitor]${visitor}`,
      seconds: visited * visitSeconds,
      part: (index) => ({
        fromSeconds: (index % visited) * visitSeconds,
        seconds: visitSeconds,
        beginsAtSeconds: (index * 7 * groupSeconds) % visitSeconds,
      }),
    },
  };
}

async function printCosts(): Promise<void> {
  await warmUp();
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
        `${jobs} jobs cost ${round(cores / base.cores)} times what ${base.jobs} jobs on the same ${sources} sources cost`,
      );
  }
  console.log(`processor time of bare ffmpeg for one frame of a stream: ${round(bareMs)} ms`);
}

/** Runs many jobs with short intervals, so that no measurement contains the compilation of code: a service runs for days. */
async function warmUp(): Promise<void> {
  const jobs = Math.min(Math.max(...loads.map((load) => load.jobs)), 100);
  const sources = Math.min(Math.max(...loads.map((load) => load.sources)), jobs, 10);
  await using service = await openWith(jobs);
  for (let index = 0; index < jobs; index += 1) await startJob(service, { jobs, sources }, index, 5);
  await sleep(warmUpSeconds * 1000);
}

async function openWith(jobs: number): Promise<BenchService> {
  const eventStreamsPerCaller = String(Math.max(readers, 10));
  return openService({
    ffmpeg,
    jobs,
    wakes: !values['no-wakes'],
    settings: { vision: 'pixel', eventStreamsPerCaller },
  });
}

async function startJob(
  service: BenchService,
  { jobs, sources }: Load,
  index: number,
  seconds: number,
): Promise<void> {
  const judged = (index * 100) / jobs < judgedPercent;
  const url = cameras.url(`${judged ? 'moving' : unjudged}-${index % sources}`);
  const fields = { interval_seconds: seconds, enable_prefilter: !judged, look_back: values['look-back'] };
  if (values.watches) await service.startWatch(url, fields);
  else await service.startMonitor(url, fields);
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
  const sinceMs = Date.now();
  const before = readProcessorTimes();
  await sleep(Number(values.seconds) * 1000);
  const after = readProcessorTimes();
  const elapsedMs = Date.now() - sinceMs;
  const ownMs = after.ownMs - before.ownMs;
  const usedMs = ownMs + after.childrenMs - before.childrenMs;
  const resident = readResidentMb();
  const counts = await service.countChecks();
  const checks = counts.reduce((sum, count, index) => sum + count - (checksBefore[index] ?? 0), 0);
  const measured = await service.readDelays(sinceMs);
  const delays = measured.flatMap(({ checksMs }) => checksMs);
  const eventDelays: number[] = reading === undefined ? [] : JSON.parse(await reading.ask('delays'));
  const cores = usedMs / elapsedMs;
  const row = {
    checks,
    expected: Math.round((jobs * elapsedMs) / 1000 / intervalSeconds),
    ...(values.watches && { 'of them woken': measured.reduce((sum, { woken }) => sum + woken, 0) }),
    'cores used': round(cores, 3),
    'ms a check': round(usedMs / checks),
    'of which Node': round(ownMs / checks),
    'ms a stream-second': round(usedMs / (elapsedMs / 1000) / sources),
    'of bare ffmpeg': round(usedMs / checks / bareMs),
    'delay p50 ms': quantile(delays, 0.5),
    'p95 ms': quantile(delays, 0.95),
    'resident MB': resident.own,
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
  const options = values.rtsp ? '-rtsp_transport tcp' : '-live_start_index -1';
  const args = `-loglevel fatal ${options} -i ${cameras.url(`${pictures[0]}-0`)} -frames:v 1 -f mjpeg -`;
  const before = readProcessorTimes();
  for (let run = 0; run < runs; run += 1) spawnSync(ffmpeg.path, words(args), { stdio: 'ignore' });
  return (readProcessorTimes().childrenMs - before.childrenMs) / runs;
}
