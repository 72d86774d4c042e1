import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startService } from '../../support/service-process.ts';
import { createAbuser, type Statuses } from './abuser.ts';
import { parserScenes } from './parser-scenes.ts';
import { startNeighbor, type Latencies } from './neighbor.ts';
import { startTarget } from './target.ts';
import { openTemporaryFolder } from '../../../cli/temporary-folder.ts';

/** Time in which the other caller is alone. */
const quietMs = 3000;

export type AbuseResult = {
  /** Resident memory of the service in MB, before and at its highest; 0 where the system does not say. */
  memory: { before: number; peak: number };
  /** Share of one core that the service used; 0 where the system does not say. */
  busy: number;
  /** Maximum number of connections from the service to the streams of the key. */
  connections: number;
  webhooks: number;
  answers: Record<'batches' | 'creations' | 'stalls' | 'slowBodies' | 'resends' | 'keyChurn', Statuses>;
  /** Another caller's latency: before, and meanwhile. */
  neighbor: { before: Latencies; meanwhile: Latencies };
};

/**
 * One key abuses a service that runs as in production, in a heap for a machine of 512 MB and without a limit per
 * minute, so that the other limits have to hold. Bounded in count; about 20 s.
 */
export async function runAbuse({ creations }: { creations: number }): Promise<AbuseResult> {
  await using cleanup = new AsyncDisposableStack();
  const { target, service, pid, neighbor } = await openScene(cleanup);
  const jobId = await stoppedJob();
  await sleep(quietMs);
  const quiet = await neighbor.read();
  const before = await readMegabytes(pid, 'VmRSS');
  const [beganMs, usedMs] = [performance.now(), await readProcessorMs(pid)];

  const abuser = createAbuser(service);
  const slowing = abuser.slowBodies(100, 4_900_000);
  const resends = await abuser.resends(150, jobId);
  const [batches, stalls, tarpits, keyChurn, slowBodies] = await Promise.all([
    abuser.batches(target.url('/stalling.m3u8')),
    abuser.creations(200, target.url('/stalling.m3u8')),
    abuser.creations(creations, target.url('/tarpit.m3u8')),
    abuser.keyChurn(100),
    slowing,
  ]);

  return {
    answers: { batches, creations: tarpits, stalls, slowBodies, resends, keyChurn },
    neighbor: { before: quiet, meanwhile: await neighbor.read() },
    memory: { before, peak: await readMegabytes(pid, 'VmHWM') },
    busy: Number((((await readProcessorMs(pid)) - usedMs) / (performance.now() - beganMs)).toFixed(2)),
    connections: target.maxConnections(),
    webhooks: target.webhooks(),
  };

  /** A job whose start was delivered and whose end, too. */
  async function stoppedJob(): Promise<string> {
    const fields = {
      stream_url: target.url('/live.m3u8'),
      condition: 'a ship',
      webhook_url: target.url('/hook'),
    };
    const { body } = await service.call('POST', '/live-monitor', fields);
    const delivered = async (count: number) => {
      for (let waited = 0; target.webhooks() < count && waited < 200; waited += 1) await sleep(50);
    };
    await delivered(1);
    await service.call('DELETE', `/jobs/${body.job_id}`);
    await delivered(2);
    return body.job_id;
  }
}

/** Ten hostile cameras of one key beside another caller, for `seconds`. */
export async function runCameraAbuse(seconds: number): Promise<Omit<AbuseResult, 'answers' | 'webhooks'>> {
  await using cleanup = new AsyncDisposableStack();
  const { target, service, pid, neighbor } = await openScene(cleanup);
  const cameras = fork(new URL('hostile-cameras-process.ts', import.meta.url), { execArgv: [] });
  cleanup.defer(() => void cameras.kill());
  const [urls] = await once(cameras, 'message');
  await sleep(quietMs);
  const quiet = await neighbor.read();
  const before = await readMegabytes(pid, 'VmRSS');
  const [beganMs, usedMs] = [performance.now(), await readProcessorMs(pid)];
  for (const url of urls)
    await service.call('POST', '/live-monitor', {
      stream_url: url,
      condition: 'a ship',
      interval_seconds: 5,
    });
  await sleep(seconds * 1000);
  return {
    neighbor: { before: quiet, meanwhile: await neighbor.read() },
    memory: { before, peak: await readMegabytes(pid, 'VmHWM') },
    busy: Number((((await readProcessorMs(pid)) - usedMs) / (performance.now() - beganMs)).toFixed(2)),
    connections: target.maxConnections(),
  };
}

export type SceneResult = {
  scene: string;
  /** Latency of `/healthz`, and that without the attack: of a busy machine. */
  p99Ms: number;
  aloneMs: number;
  /** Resident memory above that at the start, at its highest, in MB. */
  memory: number;
  isAlive: boolean;
  answers: Record<string, number>;
};

/** One key sends the worst inputs of a parser, at least three calls at a time, for `seconds`. */
export async function runParserAbuse(scene: string, seconds: number): Promise<SceneResult> {
  await using cleanup = new AsyncDisposableStack();
  const { path: dataDir } = cleanup.use(openTemporaryFolder('abuse-'));
  const service = await startService(dataDir, {
    WATCHPOST_SYNC_PER_MINUTE: '0',
    WATCHPOST_LOG_LEVEL: 'error',
  });
  cleanup.defer(async () => void (await service.kill('SIGTERM')));
  const calls = (await parserScenes[scene]?.(cleanup)) ?? [];
  const origin = new URL(service.baseUrl).origin;
  const answers: SceneResult['answers'] = {};
  const aloneMs = await watchHealth(origin, quietMs);
  const until = performance.now() + seconds * 1000;
  const before = await readMegabytes(service.pid, 'VmRSS');
  let index = 0;
  const attack = async (): Promise<void> => {
    while (performance.now() < until) {
      const { path, body } = calls[(index += 1) % calls.length] ?? { path: '/', body: {} };
      const answer = await request(`${origin}${path}`, service.apiKey, body);
      answers[answer] = (answers[answer] ?? 0) + 1;
    }
  };
  // A call of an RTSP camera may take its whole time: then all of them run together.
  const attacks = Array.from({ length: Math.max(3, calls.length) }, attack);
  const [p99Ms] = await Promise.all([watchHealth(origin, seconds * 1000), ...attacks]);
  const { status } = await fetch(`${origin}/healthz`).catch(() => ({ status: 0 }));
  return {
    scene,
    p99Ms,
    aloneMs,
    memory: (await readMegabytes(service.pid, 'VmHWM')) - before,
    isAlive: status === 200,
    answers,
  };
}

/** Returns the latency of `/healthz` at 99 %. */
async function watchHealth(origin: string, milliseconds: number): Promise<number> {
  const latencies: number[] = [];
  for (const startMs = performance.now(); performance.now() - startMs < milliseconds;) {
    const beganMs = performance.now();
    const response = await fetch(`${origin}/healthz`).catch(() => undefined);
    await response?.text();
    latencies.push(performance.now() - beganMs);
    await sleep(50);
  }
  const sorted = latencies.toSorted((one, other) => one - other);
  return Math.round(sorted[Math.floor((sorted.length - 1) * 0.99)] ?? 0);
}

/** Returns the status and code of an answer. */
async function request(url: string, key: string, body: unknown): Promise<string> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, { method: 'POST', headers, body: text }).catch(() => undefined);
  if (response === undefined) return 'none';
  const [, code = ''] = /"code":\s*"(\w+)"/.exec(await response.text()) ?? [];
  return `${response.status} ${code}`.trim();
}

/** Starts the targets, the service, and another caller. */
async function openScene(cleanup: AsyncDisposableStack) {
  const { path: dataDir } = cleanup.use(openTemporaryFolder('abuse-'));
  const target = await startTarget();
  cleanup.defer(() => target.close());
  const service = await startService(dataDir, {
    NODE_OPTIONS: '--max-old-space-size=320',
    WATCHPOST_ALLOW_WEBHOOK_RANGES: '127.0.0.0/8',
    WATCHPOST_SYNC_PER_MINUTE: '0',
    WATCHPOST_LOG_LEVEL: 'error',
  });
  cleanup.defer(async () => void (await service.kill('SIGTERM')));
  const { pid } = JSON.parse(await readFile(join(dataDir, 'watchpost.json'), 'utf8'));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['cli/watchpost.ts', 'keys', 'create', '--caller', 'neighbor', '--new-caller', '--json'],
    { env: { ...process.env, WATCHPOST_DATA_DIR: dataDir } },
  );
  const { key } = JSON.parse(stdout);
  const neighbor = startNeighbor({ baseUrl: service.baseUrl, key, streamUrl: target.url('/live.m3u8') });
  cleanup.defer(() => neighbor.stop());
  return { target, service, pid, neighbor };
}

/** Linux only; a clock tick is 10 ms. */
async function readProcessorMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')).split(' ');
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * 10;
}

/** Linux only. */
async function readMegabytes(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) / 1024);
}
