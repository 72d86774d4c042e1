import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startLiveHls } from '../../cli/demo/live-hls.ts';
import { startRtspServer } from '../support/rtsp/live-camera.ts';
import { startService, type ServiceProcess } from '../support/service-process.ts';

type Options = { model: string; projector: string; runtime: string; ffmpegPath: string; dataDir: string };

/**
 * Starts the service with a local model, monitors live streams, and kills the process of the model. Returns the first
 * problem.
 */
export async function checkService(options: Options): Promise<string | undefined> {
  await using cleanup = new AsyncDisposableStack();
  const inputArgs = '-re -f lavfi -i testsrc2=size=320x180:rate=10'.split(' ');
  const { ffmpegPath } = options;
  const hls = await startLiveHls({ ffmpegPath, inputArgs, segmentSeconds: 1, host: '127.0.0.1' });
  cleanup.defer(async () => hls.close());
  const rtsp = await startRtspServer({ ffmpegPath, inputArgs, path: '/live' });
  cleanup.defer(async () => rtsp.close());
  const service = await startService(options.dataDir, {
    WATCHPOST_VISION: 'local',
    WATCHPOST_VISION_MODEL: options.model,
    WATCHPOST_PROJECTOR: options.projector,
    WATCHPOST_LOCAL_RUNTIME: options.runtime,
  });
  cleanup.defer(async () => void (await service.kill('SIGTERM')));

  const jobs: string[] = [];
  for (const url of [hls.url, rtsp.url]) {
    const body = {
      stream_url: url,
      condition: 'the gate is open',
      interval_seconds: 5,
      enable_prefilter: false,
    };
    const { body: job } = await service.call('POST', '/live-monitor', { ...body, max_triggers: 1000 });
    jobs.push(job.job_id);
  }
  const before = await waitForChecks(service, jobs, [2, 2]);
  if (before === undefined) return `no checks before the end of the process:\n${service.output()}`;
  const [child] = await childrenOf(service);
  if (child === undefined) return 'the service has no process of a model';
  process.kill(child, 'SIGKILL');
  const after = await waitForChecks(
    service,
    jobs,
    before.map((checks) => checks + 2),
  );
  if (after === undefined) return `no checks after the end of the process:\n${service.output()}`;
  const [again] = await childrenOf(service);
  return again === undefined || again === child ? 'no other process has started' : undefined;
}

/**
 * Waits until each job has this many checks with a verdict. Returns their numbers, undefined after a minute and a half.
 */
async function waitForChecks(
  service: ServiceProcess,
  jobs: readonly string[],
  wanted: readonly number[],
): Promise<number[] | undefined> {
  for (let waited = 0; waited < 90; waited += 1) {
    const checks = await Promise.all(
      jobs.map(
        async (id) => (await service.call('GET', `/jobs/${id}`)).body.stats.checks_performed as number,
      ),
    );
    if (checks.every((count, at) => count >= (wanted[at] ?? 0))) return checks;
    await sleep(1000);
  }
  return undefined;
}

async function childrenOf(service: ServiceProcess): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=,args=']);
  const lines = stdout.split('\n').filter((line) => line.includes('model-process.ts'));
  return lines
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid, parent]) => (parent === service.pid ? [pid ?? 0] : []));
}
