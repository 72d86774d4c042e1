import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLiveHls } from '../cli/demo/live-hls.ts';
import { ensureFfmpeg } from '../cli/ensure-ffmpeg.ts';
import { runService } from '../cli/run-service.ts';
import { readSettings } from '../cli/settings.ts';
import { openTerminal } from '../cli/terminal.ts';

/**
 * Measures the punctuality of one machine: jobs in `frames` mode on one live HLS stream, every 10 s. Prints the
 * delay of ticks, and the processor time of a tick beside bare ffmpeg capturing one frame of the same stream.
 * Usage: node bench/ticks.ts [jobs = 80] [seconds = 60]
 */

const jobs = Number(process.argv[2] ?? 80);
const seconds = Number(process.argv[3] ?? 60);
const intervalSeconds = 10;

await using cleanup = new AsyncDisposableStack();
const ffmpeg = await ensureFfmpeg('', process.env, openTerminal(process.env));
const dataDir = await mkdtemp(join(tmpdir(), 'watchpost-bench-'));
cleanup.defer(() => rm(dataDir, { recursive: true, force: true }));
const settings = readSettings(
  {
    port: '0',
    dataDir,
    allowRanges: '127.0.0.0/8',
    allowWebhookRanges: '127.0.0.0/8',
    jobsPerCaller: String(jobs),
    syncPerMinute: '0',
    logLevel: 'error',
    maxJobSeconds: '3600',
  },
  {},
);
const { credentials, close } = await runService(settings, ffmpeg, {
  write: (line) => console.error(line),
  humanReadable: false,
});
cleanup.defer(close);
const inputArgs = ['-re', '-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=10'];
const stream = await startLiveHls({
  ffmpegPath: ffmpeg.path,
  inputArgs,
  segmentSeconds: 2,
  host: '127.0.0.1',
});
cleanup.defer(() => stream.close());

const jobIds: string[] = [];
for (let index = 0; index < jobs; index += 1) {
  const created = await call('POST', '/live-monitor', {
    stream_url: stream.url,
    condition: 'The picture is entirely black',
    input_mode: 'frames',
    interval_seconds: intervalSeconds,
    monitor_duration_seconds: 3600,
  });
  jobIds.push(created.job_id);
  await sleep((intervalSeconds * 1000) / jobs / 2);
}
const before = process.resourceUsage();
const ticksBefore = await ticksSoFar();
await sleep(seconds * 1000);
const own = since(before);
const ticks = (await ticksSoFar()) - ticksBefore;

const lateness = (await Promise.all(jobIds.map(readDelays))).flat().toSorted((a, b) => a - b);
const bareTimes: number[] = [];
for (let run = 0; run < 9; run += 1) bareTimes.push(await bareFrameMs());
const bare = quantile(
  bareTimes.toSorted((a, b) => a - b),
  0.5,
);
// Node does not offer `getrusage(RUSAGE_CHILDREN)`, which includes ended children, so ticks are weighted by wall
// time.
console.table({
  'ticks in the window': ticks,
  'expected ticks': (jobs * seconds) / intervalSeconds,
  'ticks late by at least one interval': lateness.filter((ms) => ms >= intervalSeconds * 1000).length,
  'delay of a committed tick, median ms': quantile(lateness, 0.5),
  'delay of a committed tick, 95 % ms': quantile(lateness, 0.95),
  'delay of a committed tick, maximum ms': quantile(lateness, 1),
  'processor time of the service without children, ms per tick': Math.round((own / ticks) * 10) / 10,
  'bare ffmpeg, one frame, wall ms': Math.round(bare),
  'median delay / bare ffmpeg': Math.round((quantile(lateness, 0.5) / bare) * 100) / 100,
});
for (const jobId of jobIds) await call('DELETE', `/jobs/${jobId}`);

async function ticksSoFar(): Promise<number> {
  const details = await Promise.all(jobIds.map((jobId) => call('GET', `/jobs/${jobId}`)));
  return details.reduce((sum, { stats }) => sum + stats.last_check, 0);
}

/** Returns the delay of each commit after its planned time, including capture, comparison, model and commit. */
async function readDelays(jobId: string): Promise<number[]> {
  const { events } = await call('GET', `/jobs/${jobId}/events?limit=1000`);
  const progress = events.filter(({ type }: { type: string }) => type === 'progress');
  return progress
    .slice(1)
    .map(
      ({ timestamp }: { timestamp: string }, index: number) =>
        Date.parse(timestamp) - Date.parse(progress[index].data.next_check_at),
    );
}

async function bareFrameMs(): Promise<number> {
  const startedMs = performance.now();
  const args = [
    '-loglevel',
    'fatal',
    '-live_start_index',
    '-1',
    '-i',
    stream.url,
    '-frames:v',
    '1',
    '-f',
    'null',
    '-',
  ];
  await once(spawn(ffmpeg.path, args, { stdio: 'ignore' }), 'exit');
  return performance.now() - startedMs;
}

function since(usage: NodeJS.ResourceUsage): number {
  const now = process.resourceUsage();
  return (now.userCPUTime - usage.userCPUTime + now.systemCPUTime - usage.systemCPUTime) / 1000;
}

function quantile(sorted: number[], share: number): number {
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);
}

async function call(method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${credentials.base_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${credentials.api_key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.json();
}
