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
  readResidentMb,
  round,
  startProcess,
  startProcessorClock,
} from './harness.ts';
import { type BenchService, openService } from './service.ts';
import { type LiveStream, runFfmpeg, startStreams, words } from './streams.ts';

/**
 * Measures what checks every 10 s cost on this machine, with monitors or watches in `frames` mode and measured
 * conditions. Prints the processor time per check (service and its ffmpeg processes; the streams come from another
 * process), the delay of checks, and the checks that motion caused. Several loads, of jobs x sources, run after one
 * another.
 * Usage: npm run bench -- load [40x40 …]
 *   --judged 100     percent of the jobs whose every frame is judged; the others have the pre-filter and a still picture
 *   --look-back      captures scan the stream since the last one
 *   --rtsp           cameras instead of HLS streams
 *   --watches        watches instead of monitors; with `--look-back`, motion wakes those of cameras
 *   --no-wakes       motion causes no check
 *   --visits 0       seconds between two visits in the still pictures; 0: none
 *   --opening 0      percent of the watches that open an alert, one after the other during the measurement, with the clip that is the default of the service
 *   --seconds 40     duration of the measurement
 *   --readers 0      event streams of another process, and the delay from an event's timestamp to its arrival
 *   --fairness       overloads the service instead, and prints how it treats its jobs (about five minutes a load)
 */

type Load = { jobs: number; sources: number };
/**
 * `moving`: every frame differs. `still`: one picture. `visited`: one picture, with something that moves for 6 s of
 * each visit.
 */
type Picture = 'moving' | 'still' | 'visited';
/**
 * Recording in parts of which streams repeat one each, and by how much later in it each stream begins than the one
 * before.
 */
type Recording = { graph: string; parts: number; partSeconds: number; stepSeconds: number };

const intervalSeconds = 10;
const warmUpSeconds = 30;
const [framesPerSecond, groupSeconds] = [30, 2];
/** Time between two counts of checks after half of the jobs have ended, in seconds. */
const recoveryStepSeconds = 5;
const maxRecoverySteps = 60;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    judged: { type: 'string', default: '100' },
    'look-back': { type: 'boolean', default: false },
    rtsp: { type: 'boolean', default: false },
    watches: { type: 'boolean', default: false },
    'no-wakes': { type: 'boolean', default: false },
    visits: { type: 'string', default: '0' },
    opening: { type: 'string', default: '0' },
    seconds: { type: 'string', default: '40' },
    readers: { type: 'string', default: '0' },
    fairness: { type: 'boolean', default: false },
  },
});
const [readers, judgedPercent] = [Number(values.readers), Number(values.judged)];
const [visitSeconds, openingPercent] = [Number(values.visits), Number(values.opening)];
const unjudged: Picture = visitSeconds > 0 ? 'visited' : 'still';
const pictures: Picture[] =
  judgedPercent === 0 ? [unjudged] : judgedPercent === 100 ? ['moving'] : ['moving', unjudged];
const loads = (positionals.length === 0 ? ['1x1', '40x40'] : positionals).map((name): Load => {
  const [jobs = 1, sources = 1] = name.split('x').map(Number);
  return { jobs, sources };
});
const maxJobs = Math.max(...loads.map(({ jobs }) => jobs));
const maxSources = Math.max(...loads.map(({ sources }) => sources));

await using cleanup = new AsyncDisposableStack();
const ffmpeg = await findFfmpeg();
const { path: directory } = cleanup.use(openTemporaryFolder('bench-load-'));
const live = await recordCameras(maxSources);
const cameras = cleanup.use(await startStreams({ ffmpegPath: ffmpeg.path, ageSeconds: 30, streams: live }));
if (values.fairness)
  for (const load of loads) console.table({ [`${load.jobs}x${load.sources}`]: await overload(load) });
else await printCosts();
console.log(describeMachine(ffmpeg));

/**
 * Records 720p30, and returns `sources` streams of each kind of picture, named `moving-0`: no encoder runs during the
 * measurement. Streams that move begin at different places of a long recording, and still ones have a picture each, so
 * that no two of them show the same picture at nearly the same time: the service would judge it once.
 */
async function recordCameras(sources: number): Promise<LiveStream[]> {
  const recordings = describeRecordings(sources);
  const streams: LiveStream[] = [];
  for (const picture of pictures) {
    const { graph, parts, partSeconds, stepSeconds } = recordings[picture];
    const file = join(directory, `${picture}.mp4`);
    const group = groupSeconds * framesPerSecond;
    const encoding = `-t ${parts * partSeconds} -c:v libx264 -preset ultrafast -b:v 3M -g ${group} -keyint_min ${group} -sc_threshold 0 -pix_fmt yuv420p`;
    await runFfmpeg(ffmpeg.path, ['-f', 'lavfi', '-i', graph, ...words(encoding), file]);
    for (let index = 0; index < sources; index += 1) {
      const beginsAtSeconds = (Math.floor((index * stepSeconds) / groupSeconds) * groupSeconds) % partSeconds;
      streams.push({
        name: `${picture}-${index}`,
        renditions: [{ height: 720, file }],
        framesPerSecond,
        segmentSeconds: values.rtsp ? 0 : groupSeconds,
        part: { fromSeconds: (index % parts) * partSeconds, seconds: partSeconds, beginsAtSeconds },
      });
    }
  }
  return streams;
}

function describeRecordings(sources: number): Record<Picture, Recording> {
  // At least 8 s between two streams, or so many streams that the service keeps no picture for that long.
  const movingSeconds = Math.max(4 * Math.min(sources, 40), sources) * groupSeconds;
  const source = 'testsrc2=size=1280x720';
  const still = `${source}:rate=1/${visitSeconds || groupSeconds},fps=30`;
  const visitor = `overlay=y=260:x='mod(t,${visitSeconds})*220':enable='lt(mod(t,${visitSeconds}),6)'`;
  const visited = `${still},noise=alls=4:allf=t[scene];color=red:size=120x240:rate=30[visitor];[scene][visitor]${visitor}`;
  return {
    moving: {
      graph: `${source}:rate=30`,
      parts: 1,
      partSeconds: movingSeconds,
      stepSeconds: movingSeconds / sources,
    },
    still: { graph: still, parts: Math.min(sources, 100), partSeconds: groupSeconds, stepSeconds: 0 },
    visited: { graph: visited, parts: Math.min(sources, 10), partSeconds: visitSeconds, stepSeconds: 14 },
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
  for (const [index, { jobs, sources, cores }] of points.entries()) {
    const base = points.slice(0, index).find((other) => other.sources === sources && other.jobs < jobs);
    if (base !== undefined)
      console.log(
        `${jobs} jobs cost ${round(cores / base.cores)} times what ${base.jobs} jobs on the same ${sources} sources cost`,
      );
  }
  console.log(`processor time of bare ffmpeg for one frame of a stream: ${round(bareMs)} ms`);
}

/**
 * Runs many jobs with short intervals, so that no measurement contains the compilation of code: a service runs for
 * days.
 */
async function warmUp(): Promise<void> {
  const jobs = Math.min(maxJobs, 100);
  await using service = await openWith(jobs);
  const load = { jobs, sources: Math.min(maxSources, jobs, 10) };
  for (let index = 0; index < jobs; index += 1) await startJob(service, load, index, 5);
  await sleep(warmUpSeconds * 1000);
}

async function openWith(jobs: number): Promise<BenchService> {
  const eventStreams = Math.max(readers, 10);
  return openService({ ffmpeg, jobs, eventStreams, wakes: !values['no-wakes'] });
}

async function startJob(
  service: BenchService,
  { jobs, sources }: Load,
  index: number,
  seconds = intervalSeconds,
): Promise<void> {
  const judged = (index * 100) / jobs < judgedPercent;
  const url = cameras.url(`${judged ? 'moving' : unjudged}-${index % sources}`);
  const fields = { interval_seconds: seconds, enable_prefilter: !judged, look_back: values['look-back'] };
  if (values.watches) await service.startWatch(url, fields);
  else await service.startMonitor(url, fields);
}

/**
 * Overloads the service, and returns how it treats its jobs: creations that it refuses, checks by job, intervals, gaps,
 * and the recovery once half of the jobs have ended. Detection takes ten seconds, so jobs that are created in that time
 * overload the service; later ones are refused.
 */
async function overload(load: Load) {
  await using service = await openWith(load.jobs + 1);
  const isRefused = async (index: number): Promise<boolean> => {
    try {
      await startJob(service, load, index);
      return false;
    } catch (error) {
      if (!(error instanceof WatchpostError) || error.code !== 'SERVICE_OVERLOADED') throw error;
      return true;
    }
  };
  let refused = 0;
  for (let index = 0; index < load.jobs; index += 1) if (await isRefused(index)) refused += 1;
  // The factor of the intervals settles: until then, checks queue.
  await sleep(60_000);
  const before = await service.countChecks();
  await sleep(Number(values.seconds) * 1000);
  const after = await service.countChecks();
  const checks = after.map((count, index) => count - (before[index] ?? 0));
  const { lateSeconds, stretch } = service.readPace();
  const lateRefused = await isRefused(0);
  const gaps = await service.countOwnGaps();
  await service.endJobs(Math.ceil(service.jobIds.length / 2));
  let steps = 0;
  for (; steps < maxRecoverySteps && service.readPace().stretch > 1; steps += 1)
    await sleep(recoveryStepSeconds * 1000);
  return {
    'jobs that run': checks.length,
    'creations refused': refused,
    'refused while late': lateRefused ? 'yes' : 'no',
    'checks of the median job': quantile(checks, 0.5),
    'least of median': round(Math.min(...checks) / quantile(checks, 0.5)),
    'interval factor': round(stretch),
    'late, s': round(lateSeconds),
    'gaps with reason service': gaps,
    'normal again after, s': steps < maxRecoverySteps ? steps * recoveryStepSeconds : 'not in 5 min',
  };
}

async function measure({ jobs, sources }: Load, bareMs: number) {
  await using service = await openWith(jobs);
  for (let index = 0; index < jobs; index += 1) await startJob(service, { jobs, sources }, index);
  await sleep(2 * intervalSeconds * 1000);
  await using reading = readers === 0 ? undefined : await startReaders(service, jobs);
  // Counting is a request per job, so it is outside of the measured time.
  const checksBefore = await service.countChecks();
  const sinceMs = Date.now();
  const readClock = startProcessorClock();
  await openAlerts(service, Math.round((jobs * openingPercent) / 100));
  const { ownMs, usedMs } = readClock();
  const elapsedMs = Date.now() - sinceMs;
  const resident = readResidentMb();
  const counts = await service.countChecks();
  const checks = counts.reduce((sum, count, index) => sum + count - (checksBefore[index] ?? 0), 0);
  const measured = await service.readDelays(sinceMs);
  const delays = measured.flatMap(({ checksMs }) => checksMs);
  const eventDelays = (await reading?.ask<number[]>({})) ?? [];
  const cores = usedMs / elapsedMs;
  const row = {
    checks,
    expected: Math.round((jobs * elapsedMs) / 1000 / intervalSeconds),
    ...(values.watches && { 'of them woken': measured.reduce((sum, { woken }) => sum + woken, 0) }),
    ...(openingPercent > 0 && (await service.countClips())),
    'cores used': round(cores, 3),
    'ms a check': round(usedMs / checks),
    'of which Node': round(ownMs / checks),
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

/** Opens alerts in equal distances during the measurement, and returns at its end. */
async function openAlerts(service: BenchService, count: number): Promise<void> {
  const [measuredMs, beganMs] = [Number(values.seconds) * 1000, Date.now()];
  const left = (share: number) => Math.max(0, beganMs + share * measuredMs - Date.now());
  for (let index = 0; index < count; index += 1) {
    await sleep(left(index / count));
    await service.openAlert(index);
  }
  await sleep(left(1));
}

async function startReaders(service: BenchService, jobs: number) {
  const perJob = String(Math.ceil(readers / jobs));
  return startProcess('readers-process.ts', perJob, service.apiKey, ...service.eventUrls());
}

/**
 * Measures the processor time of ffmpeg as its users call it, for the newest frame of a stream: the mean of nine runs.
 */
function bareFrameMs(): number {
  const runs = 9;
  const options = values.rtsp ? '-rtsp_transport tcp' : '-live_start_index -1';
  const args = `-loglevel fatal ${options} -i ${cameras.url(`${pictures[0]}-0`)} -frames:v 1 -f mjpeg -`;
  const readClock = startProcessorClock();
  for (let run = 0; run < runs; run += 1) spawnSync(ffmpeg.path, words(args), { stdio: 'ignore' });
  return readClock().childrenMs / runs;
}
