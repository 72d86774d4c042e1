import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { openDatabase } from '../../adapters/embedded/sqlite/database.ts';
import { createFairTurns } from '../../adapters/embedded/load/fair-turns.ts';
import { limitCaptures } from '../../adapters/embedded/load/limit-captures.ts';
import { createLogBuffer } from '../../adapters/embedded/log/log-buffer.ts';
import { createMeter } from '../../adapters/embedded/callers/meter.ts';
import { shareCaptures } from '../../adapters/embedded/load/share-captures.ts';
import { teeLog } from '../../adapters/embedded/log/tee-log.ts';
import { meteredVision } from '../../adapters/vision/metered-vision.ts';
import { createDigest } from '../../core/job/create-digest.ts';
import { createMonitor } from '../../core/job/create-monitor.ts';
import { redactedLog } from '../../core/observability/redact.ts';
import { digestRequestSchema } from '../../core/requests/live-digest.ts';
import { monitorRequestSchema } from '../../core/requests/live-monitor.ts';
import { watchRequestSchema } from '../../core/requests/watches.ts';
import { createPace } from '../../core/tick/pace.ts';
import { createWatch } from '../../core/watch/create-watch.ts';
import { nothingUsed } from '../../test/contract/records.ts';
import { Random } from '../../test/core/watch/simulation/random.ts';
import { Camera } from '../../test/simulation/camera.ts';
import { startProcess } from '../../test/simulation/service-process.ts';
import type { Outside } from '../../test/simulation/service-process.ts';
import { VirtualTime } from '../../test/simulation/virtual-time.ts';
import { withoutFlushes } from '../../test/simulation/without-flushes.ts';
import { openTemporaryFolder } from '../../cli/temporary-folder.ts';

export type VirtualLoadOptions = {
  /** Jobs and watches that run together; a quarter are watches. */
  count: number;
  hours: number;
  intervalSeconds: number;
  /** Called each virtual half hour. */
  sample: (hours: number, progress: Progress) => void;
};

export type Progress = { checks: number; jobsMade: number };

const startMs = Date.parse('2026-03-01T00:00:00.000Z');
const halfHourMs = 30 * 60_000;
const frameBytes = 40_000;
/** Duration of the jobs: 10 minutes, so that jobs are created and end all the time. */
const jobSeconds = 600;
const jobsPerCaller = 10;

/**
 * Runs the service of one machine in virtual time: stores, scheduler, maintenance, queue, pace, log and shared captures are those of the service.
 * Cameras, model, files and receivers are simulated; no process and no socket is used. Jobs last ten minutes, and new ones follow.
 */
export async function runVirtualLoad(options: VirtualLoadOptions): Promise<void> {
  const { count, hours, intervalSeconds, sample } = options;
  using folder = openTemporaryFolder('watchpost-memory-');
  const database = withoutFlushes(openDatabase(join(folder.path, 'watchpost.sqlite')));
  const time = new VirtualTime(startMs);
  const owner = { isDead: false };
  const progress: Progress = { checks: 0, jobsMade: 0 };
  let failure: unknown;
  // Time limits of real time would pile up: an hour passes in half a minute.
  const { timeout } = AbortSignal;
  AbortSignal.timeout = () => new AbortController().signal;
  try {
    const outside = createOutside(time, owner, progress);
    const { deps } = startProcess(database, owner, time, outside, (error) => (failure ??= error));
    const watches = Math.floor(count / 4);
    for (let index = 0; index < watches; index += 1) {
      const request = watchRequestSchema.parse({
        name: `gate ${index}`,
        stream_url: toUrl(index),
        interval_seconds: intervalSeconds,
        conditions: [{ condition: 'a truck is at the gate' }, { condition: 'a person is at the gate' }],
      });
      await createWatch(request, `caller-${Math.floor(index / jobsPerCaller)}`, deps);
    }
    const jobIds = Array.from<string | undefined>({ length: count - watches });
    for (let minute = 0; minute < hours * 60; minute += 1) {
      for (const [slot, jobId] of jobIds.entries()) {
        const job = jobId === undefined ? undefined : await deps.runs.get(jobId, time.now());
        if (job?.status === 'running' || job?.status === 'pending') continue;
        jobIds[slot] = await createJob(slot, watches + slot);
        progress.jobsMade += 1;
      }
      await time.runUntil(startMs + (minute + 1) * 60_000, () => {
        if (failure !== undefined) throw failure;
      });
      const elapsedMs = time.nowMs - startMs;
      if (elapsedMs % halfHourMs === 0) sample(elapsedMs / 3_600_000, progress);
    }

    async function createJob(slot: number, camera: number): Promise<string> {
      const caller = `caller-${Math.floor(slot / jobsPerCaller)}`;
      const common = { stream_url: toUrl(camera), webhook_url: 'https://receiver.test/hook' };
      if (slot % 4 === 0) {
        const request = digestRequestSchema.parse({
          ...common,
          window_minutes: 2,
          max_windows: 5,
          capture_interval_seconds: Math.max(10, intervalSeconds),
        });
        return (await createDigest(request, caller, deps)).run_id;
      }
      const request = monitorRequestSchema.parse({
        ...common,
        condition: 'a truck is at the gate',
        interval_seconds: intervalSeconds,
        monitor_duration_seconds: jobSeconds,
        max_triggers: null,
      });
      return (await createMonitor(request, caller, deps)).run_id;
    }
  } finally {
    AbortSignal.timeout = timeout;
    owner.isDead = true;
    database.close();
  }
}

function createOutside(time: VirtualTime, owner: { isDead: boolean }, progress: Progress): Outside {
  const random = new Random(1);
  const cameras = new Map<string, Camera>();
  const silent = () => undefined;
  const output = { debug: silent, info: silent, warning: silent, error: silent };
  const recentLog = createLogBuffer({ level: 'info', now: time.now });
  const log = redactedLog(teeLog(output, recentLog));
  const meter = createMeter({ startedAt: time.now(), jobsBefore: nothingUsed });
  const pace = createPace({ steadyNow: time.now, log });
  const turns = createFairTurns({
    max: 16,
    maxPerCaller: 8,
    maxWaitMs: 30_000,
    setTimer: time.createTimers(owner),
  });
  const tokens = { input_tokens: 1000, output_tokens: 50 };
  const streams = {
    probe: async (url: string) => ({ platform: 'hls' as const, playbackUrl: url }),
    capture: async ({ url }: { url: string }) => {
      await time.wait(owner, random.integer(20, 200));
      progress.checks += 1;
      const camera = cameras.get(url) ?? new Camera(random, time.nowMs);
      cameras.set(url, camera);
      camera.calm = true;
      return { ...camera.capture(time.nowMs), frame: new Uint8Array(frameBytes) };
    },
  };
  const limited = limitCaptures(streams, {
    turns,
    elapsedMs: () => time.nowMs,
    report: (waitedMs) => pace.record('turn', waitedMs),
  });
  return {
    streams: shareCaptures({ streams: limited, steadyNow: time.now }),
    vision: meteredVision(
      {
        provider: 'fake',
        model: 'fake',
        supportsVideo: true,
        judge: async () => {
          await time.wait(owner, random.integer(50, 500));
          const triggered = random.chance(0.02);
          return { triggered, explanation: 'A truck is at the gate. '.repeat(6), tokens };
        },
        judgeConditions: async (_, questions) => {
          await time.wait(owner, random.integer(50, 500));
          const verdicts = questions.map(({ condition_id }) => ({
            condition_id,
            triggered: random.chance(0.3),
            explanation: 'A truck is at the gate. '.repeat(6),
          }));
          return { verdicts, tokens };
        },
        answer: () => Promise.reject(new Error('No question about one frame')),
        summarize: async () => ({ summary: 'Nothing happened. '.repeat(10), tokens }),
      },
      meter,
    ),
    media: {
      put: async () => undefined,
      get: async () => new Uint8Array(frameBytes),
      remove: async () => undefined,
      removeOfSource: async () => 0,
      trim: async () => ({ removed: 0, bytes: 0 }),
      sweep: async () => 0,
    },
    webhooks: {
      send: async () => {
        await time.wait(owner, random.integer(5, 300));
        return { status: random.chance(0.05) ? 503 : 204, latencyMs: 50, error: null, retryAfter: null };
      },
    },
    runTask: (_, task) => task(),
    random: () => random.next(),
    newId: () => randomUUID(),
    log,
    parts: { pace, meter, recentLog },
  };
}

function toUrl(camera: number): string {
  return `https://camera-${camera}.test/live.m3u8`;
}
