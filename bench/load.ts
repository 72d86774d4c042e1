import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureFfmpeg } from '../cli/ensure-ffmpeg.ts';
import { runService } from '../cli/run-service.ts';
import { readSettings } from '../cli/settings.ts';
import { openTerminal } from '../cli/terminal.ts';

/**
 * Measures what checks cost on this machine: monitors in `frames` mode at 10 s with the `pixel` model, each frame judged. Prints the processor time
 * per check (service and its ffmpeg processes; the streams come from another process) and the delay of checks. Several loads run after one another.
 * Usage: node bench/load.ts [jobs x sources …] [--seconds 40] [--ffmpeg path], for example `node bench/load.ts 1x1 40x40 300x300`
 */

type Load = { jobs: number; sources: number };

const intervalSeconds = 10;
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

const rows: Record<string, object> = {};
for (const load of loads) rows[`${load.jobs} jobs, ${load.sources} sources`] = await measure(load);
console.table(rows);
console.log(
  `load average of the last minute: ${loadavg()[0]?.toFixed(2)}; ffmpeg ${ffmpeg.version} at ${ffmpeg.path}`,
);

async function measure({ jobs, sources }: Load) {
  await using ending = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'watchpost-bench-'));
  ending.defer(() => rm(dataDir, { recursive: true, force: true }));
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
      vision: 'pixel',
    },
    {},
  );
  const { credentials, close } = await runService(settings, ffmpeg, {
    write: (line) => console.error(line),
    humanReadable: false,
  });
  ending.defer(close);
  const jobIds: string[] = [];
  for (let index = 0; index < jobs; index += 1) {
    const created = await call('POST', '/live-monitor', {
      stream_url: `${address}/camera-${index % sources}/live.m3u8`,
      condition: 'The picture is entirely black',
      input_mode: 'frames',
      interval_seconds: intervalSeconds,
      monitor_duration_seconds: 3600,
      enable_prefilter: false,
    });
    jobIds.push(created.job_id);
  }
  await sleep(2 * intervalSeconds * 1000);
  const before = readTimes();
  const started = performance.now();
  const checksBefore = await countChecks();
  await sleep(seconds * 1000);
  const after = readTimes();
  const checks = (await countChecks()) - checksBefore;
  const elapsedMs = performance.now() - started;
  const delays = (await Promise.all(jobIds.map(readDelays))).flat().toSorted((a, b) => a - b);
  const perCheck = (ms: number) => Math.round((ms / checks) * 10) / 10;
  return {
    checks,
    expected: Math.round((jobs * elapsedMs) / 1000 / intervalSeconds),
    'cores used':
      Math.round(((after.ownMs + after.childrenMs - before.ownMs - before.childrenMs) / elapsedMs) * 100) /
      100,
    'ms a check': perCheck(after.ownMs + after.childrenMs - before.ownMs - before.childrenMs),
    'of which Node': perCheck(after.ownMs - before.ownMs),
    'delay p50 ms': quantile(delays, 0.5),
    'p95 ms': quantile(delays, 0.95),
    'resident MB': Math.round(process.memoryUsage.rss() / 1e6),
  };

  async function countChecks(): Promise<number> {
    const details = await Promise.all(jobIds.map((jobId) => call('GET', `/jobs/${jobId}`)));
    return details.reduce((sum, { stats }) => sum + stats.last_check, 0);
  }

  /** Returns the delay of each commit after its planned time: capture, comparison, model and commit. */
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

  async function call(method: string, path: string, body?: unknown): Promise<any> {
    const response = await fetch(`${credentials.base_url}${path}`, {
      method,
      headers: { authorization: `Bearer ${credentials.api_key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return response.json();
  }
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

function quantile(sorted: number[], share: number): number {
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);
}

function readOption(name: string): string | undefined {
  const at = options.indexOf(name);
  return at < 0 ? undefined : options[at + 1];
}
