import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCredentials } from '../../cli/credentials.ts';
import type { Credentials } from '../../cli/credentials.ts';
import { ensureFfmpeg } from '../../cli/ensure-ffmpeg.ts';
import { openTerminal } from '../../cli/terminal.ts';
import { openTemporaryFolder } from '../../cli/temporary-folder.ts';
import { createClient } from '../../client/index.ts';

export type RealLoad = { jobs: number; minutes: number; intervalSeconds: number; model: string };

const sampleSeconds = 30;

/** Prints the resident memory of the service and of its ffmpeg processes (Linux) each half minute. The streams are those of another process. */
export async function measureService({ jobs, minutes, intervalSeconds, model }: RealLoad): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const ffmpeg = await ensureFfmpeg('', process.env, openTerminal(process.env));
  const cameras = spawn(
    process.execPath,
    [join(import.meta.dirname, '../load/cameras-process.ts'), ffmpeg.path, String(jobs)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  cleanup.defer(() => void cameras.kill());
  const [address] = await once(createInterface(cameras.stdout), 'line');
  const { path: dataDir } = cleanup.use(openTemporaryFolder('watchpost-memory-'));
  const options = `--port 0 --data-dir ${dataDir} --ffmpeg ${ffmpeg.path} --vision ${model} --allow-ranges 127.0.0.0/8 --jobs-per-caller ${jobs} --max-job-seconds 86400`;
  const service = spawn(
    process.execPath,
    [
      '--max-semi-space-size=8',
      join(import.meta.dirname, '../../cli/watchpost.ts'),
      'start',
      ...options.split(' '),
    ],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, WATCHPOST_LOG_LEVEL: 'error' } },
  );
  cleanup.defer(async () => {
    service.kill('SIGTERM');
    await once(service, 'close');
  });
  const client = await connect(dataDir);
  const jobIds: string[] = [];
  for (let index = 0; index < jobs; index += 1) {
    const { job_id } = await client.startMonitor({
      stream_url: `${address}/moving-${index}/live.m3u8`,
      condition: model === 'objects' ? 'A person is in the picture' : 'The picture is entirely black',
      input_mode: 'frames',
      interval_seconds: intervalSeconds,
      monitor_duration_seconds: minutes * 60 + 120,
      enable_prefilter: false,
    });
    jobIds.push(job_id);
  }
  for (let elapsed = sampleSeconds; elapsed <= minutes * 60; elapsed += sampleSeconds) {
    await sleep(sampleSeconds * 1000);
    const details = await Promise.all(jobIds.map((jobId) => client.getJob(jobId)));
    const checks = details.reduce((sum, { stats }) => sum + stats.last_check, 0);
    const children = listChildren(service.pid);
    const own = residentMb(String(service.pid));
    const others = children.reduce((sum, pid) => sum + residentMb(pid), 0);
    console.log(
      `${elapsed} s: service ${own} MB, ${children.length} processes of ffmpeg ${others} MB, ${checks} checks`,
    );
  }
}

/** Waits until the service has written its credentials, and returns a client for it. */
async function connect(dataDir: string) {
  let credentials: Credentials | undefined;
  for (let waited = 0; waited < 600 && credentials === undefined; waited += 1) {
    await sleep(100);
    credentials = await readCredentials(dataDir);
  }
  if (credentials === undefined) throw new Error('The service did not start');
  return createClient({ apiKey: credentials.api_key, baseUrl: credentials.base_url });
}

function listChildren(pid: number | undefined): string[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter((child) => child !== '');
}

/** Resident memory of a process, without pages that it shares with others. */
function residentMb(pid: string): number {
  const [, size = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(readStatus(pid)) ?? [];
  return Math.round(Number(size) / 1000);
}

function readStatus(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}
