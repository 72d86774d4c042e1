import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLiveHls } from '../cli/demo/live-hls.ts';
import { ensureFfmpeg } from '../cli/ensure-ffmpeg.ts';
import { openTerminal } from '../cli/terminal.ts';
import { intervalSeconds, openService, quantile } from './load/service.ts';

/**
 * Measures the punctuality of one machine: jobs in `frames` mode on one live HLS stream, every 10 s. Prints the
 * delay of ticks, and the processor time of a tick beside bare ffmpeg capturing one frame of the same stream.
 * Usage: node bench/ticks.ts [jobs = 80] [seconds = 60]
 */

const jobs = Number(process.argv[2] ?? 80);
const seconds = Number(process.argv[3] ?? 60);

await using cleanup = new AsyncDisposableStack();
const ffmpeg = await ensureFfmpeg('', process.env, openTerminal(process.env));
await using service = await openService({ ffmpeg, jobs });
const inputArgs = ['-re', '-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=10'];
const stream = await startLiveHls({
  ffmpegPath: ffmpeg.path,
  inputArgs,
  segmentSeconds: 2,
  host: '127.0.0.1',
});
cleanup.defer(() => stream.close());

for (let index = 0; index < jobs; index += 1) {
  await service.startMonitor(stream.url);
  await sleep((intervalSeconds * 1000) / jobs / 2);
}
const before = process.resourceUsage();
const ticksBefore = await service.countChecks();
await sleep(seconds * 1000);
const own = since(before);
const ticks = (await service.countChecks()) - ticksBefore;

const lateness = await service.readDelays();
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
