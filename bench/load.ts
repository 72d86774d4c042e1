import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureFfmpeg } from '../cli/ensure-ffmpeg.ts';
import { openTerminal } from '../cli/terminal.ts';
import { intervalSeconds, openService, quantile } from './load/service.ts';

/**
 * Measures what checks cost on this machine: monitors in `frames` mode at 10 s with the `pixel` model, each frame judged. Prints the processor time
 * per check (service and its ffmpeg processes; the streams come from another process) and the delay of checks. Several loads run after one another.
 * Usage: node bench/load.ts [jobs x sources …] [--seconds 40] [--ffmpeg path], for example `node bench/load.ts 1x1 40x40 300x300`
 */

type Load = { jobs: number; sources: number };

const ticksPerSecond = 100;
const options = process.argv.slice(2);
const seconds = Number(readOption('--seconds') ?? 40);
const ffmpegPath = readOption('--ffmpeg') ?? '';
const loads: Load[] = options.flatMap((option) => {
  const [, jobs, sources] = /^(\d+)x(\d+)$/.exec(option) ?? [];
  return jobs === undefined ? [] : [{ jobs: Number(jobs), sources: Number(sources) }];
});
if (loads.length === 0) loads.push({ jobs: 1, sources: 1 }, { jobs: 40, sources: 40 });

await using cleanup = new AsyncDisposableStack();
const ffmpeg = await ensureFfmpeg(ffmpegPath, process.env, openTerminal(process.env));
const cameras = spawn(process.execPath, [join(import.meta.dirname, 'load/cameras-process.ts'), 'ffmpeg'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
cleanup.defer(() => void cameras.kill());
const [address] = await once(createInterface(cameras.stdout), 'line');

const measured: (Load & { cores: number; row: object })[] = [];
for (const load of loads) measured.push({ ...load, ...(await measure(load)) });
console.table(measured.map(({ jobs, sources, row }) => ({ jobs, sources, ...row })));
for (const [at, { jobs, sources, cores }] of measured.entries()) {
  const base = measured.slice(0, at).find((other) => other.sources === sources && other.jobs < jobs);
  if (base)
    console.log(
      `${jobs} jobs cost ${(cores / base.cores).toFixed(2)} times what ${base.jobs} jobs on the same ${sources} sources cost, in processor time of the service and ffmpeg`,
    );
}
console.log(
  `load average of the last minute: ${loadavg()[0]?.toFixed(2)}; ffmpeg ${ffmpeg.version} at ${ffmpeg.path}`,
);

async function measure({ jobs, sources }: Load) {
  await using service = await openService({ ffmpeg, jobs, settings: { vision: 'pixel' } });
  for (let index = 0; index < jobs; index += 1)
    await service.startMonitor(`${address}/camera-${index % sources}/live.m3u8`, { enable_prefilter: false });
  await sleep(2 * intervalSeconds * 1000);
  // Counting is a request per job, so it is outside of the measured time.
  const checksBefore = await service.countChecks();
  const before = readTimes();
  const started = performance.now();
  await sleep(seconds * 1000);
  const after = readTimes();
  const elapsedMs = performance.now() - started;
  const checks = (await service.countChecks()) - checksBefore;
  const delays = await service.readDelays();
  const cores = (after.ownMs + after.childrenMs - before.ownMs - before.childrenMs) / elapsedMs;
  const perCheck = (ms: number) => Math.round((ms / checks) * 10) / 10;
  const row = {
    checks,
    expected: Math.round((jobs * elapsedMs) / 1000 / intervalSeconds),
    'cores used': Math.round(cores * 1000) / 1000,
    'ms a check': perCheck(after.ownMs + after.childrenMs - before.ownMs - before.childrenMs),
    'of which Node': perCheck(after.ownMs - before.ownMs),
    'delay p50 ms': quantile(delays, 0.5),
    'p95 ms': quantile(delays, 0.95),
    'resident MB': Math.round(process.memoryUsage.rss() / 1e6),
  };
  return { cores, row };
}

/** Processor time of this process and of its children (Linux): those that have ended, and decoders that still run. */
function readTimes(): { ownMs: number; childrenMs: number } {
  const own = process.resourceUsage();
  const ended = statFields('self').slice(13, 15);
  const running = listChildren().flatMap((pid) => statFields(pid).slice(11, 15));
  const ticks = [...ended, ...running].reduce((sum, value) => sum + value, 0);
  return {
    ownMs: (own.userCPUTime + own.systemCPUTime) / 1000,
    childrenMs: (ticks / ticksPerSecond) * 1000,
  };
}

/** Fields of /proc/<pid>/stat after the name, from the third one on. */
function statFields(pid: string): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    return [];
  }
}

function listChildren(): string[] {
  const text = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  return text.split(' ').filter((pid) => pid !== '' && pid !== String(cameras.pid));
}

function readOption(name: string): string | undefined {
  const at = options.indexOf(name);
  return at < 0 ? undefined : options[at + 1];
}
