import { cancelJob } from '../../core/job/end-job.ts';
import { getJob } from '../../core/job/read-jobs.ts';
import { digestRequestSchema } from '../../core/policies/digest/create.ts';
import { monitorRequestSchema } from '../../core/policies/monitor/create.ts';
import type { Job } from '../../core/records/job.ts';
import { createDigest, createMonitor } from '../support/create-jobs.ts';
import { Camera, rough, ScriptedCamera, type Habits, type Span } from './camera.ts';
import { JobObserver } from './job-observer.ts';
import { Receiver } from './receiver.ts';
import type { Random } from './random.ts';
import { VirtualService } from './virtual-service.ts';

const caller = 'harbour';
const streamUrl = 'https://camera.test/live.m3u8';
const webhookUrl = 'https://example.com/hook';
const seconds = 1000;

/** Start of each job. */
export const start = Date.parse('2026-03-07T12:00:00Z');

/**
 * Habits of a stream that no job loses: troubles stay below the grace period, and the model is silent for less than
 * five checks.
 */
export const gentle: Habits = {
  ...rough,
  segmentSeconds: [2],
  wrong: 0,
  unsure: 0,
  captureMs: [0, 0],
  modelMs: [0, 0],
  works: 135 * seconds,
  troubles: ['failed', 'expired', 'stale', 'frozen', 'black', 'still'],
  troubleMs: [20 * seconds, 120 * seconds],
  longestMs: (mode) =>
    ({ failed: 45, stale: 45, frozen: 200, black: 120, model: 14 }[mode as string] ?? 300) * seconds,
  holds: 90 * seconds,
  holdsNot: 650 * seconds,
  modelFails: 60 * seconds,
};

/** Habits of a stream without any trouble, on which something moves in each capture. */
export const healthy: Habits = {
  ...gentle,
  motion: 1,
  troubles: ['ok'],
  modelFails: 0,
  holds: 30 * seconds,
  holdsNot: 40 * seconds,
};

export type JobOptions = {
  seed: number;
  habits?: Habits;
  /** Troubles and true conditions, if they are not random; in seconds from the start. */
  script?: readonly Span[];
};

/** Jobs of a virtual service on one camera. Their events go to a receiver that fails now and then. */
export class VirtualJobs {
  readonly service: VirtualService;
  readonly receiver: Receiver;
  private readonly camera: Camera;

  constructor({ seed, script, habits = script ? healthy : gentle }: JobOptions) {
    const limits = { maxJobSeconds: 4 * 86_400, retentionSeconds: 86_400 };
    this.service = new VirtualService({ seed, startMs: start, limits });
    const { random } = this.service;
    const inTime = (each: Span) => ({
      ...each,
      from: start + each.from * seconds,
      to: start + each.to * seconds,
    });
    this.camera = script
      ? new ScriptedCamera(random, start, habits, script.map(inTime))
      : new Camera(random, start, habits);
    this.receiver = new Receiver(webhookUrl, random, () => true, 2);
  }

  async start(kind: 'monitor' | 'digest', config: Record<string, unknown>): Promise<JobObserver> {
    const { service, camera, receiver } = this;
    const { deps, real } = await service.requireRunning();
    const given = { stream_url: streamUrl, webhook_url: webhookUrl, ...config };
    const { run_id: id } = await (kind === 'monitor'
      ? createMonitor(
          monitorRequestSchema.parse({ condition: 'a ship enters the lock', ...given }),
          caller,
          deps,
        )
      : createDigest(digestRequestSchema.parse(given), caller, deps));
    const observer = new JobObserver(id, [receiver], service.time);
    service.outside.watched.push({ observer, camera, streamUrl });
    observer.observe(real, service.outside.commits, service.time.nowMs, 0);
    return observer;
  }

  async read({ runId }: JobObserver): Promise<Job> {
    const { deps } = await this.service.requireRunning();
    return (await getJob(runId, caller, deps)).job;
  }

  /** Cancels a job, unless it has ended. */
  async cancel({ runId }: JobObserver): Promise<void> {
    const { deps } = await this.service.requireRunning();
    await cancelJob(runId, caller, deps).catch(() => undefined);
  }

  /** Passes time on the clock that nobody sets, in seconds. */
  async pass(duration: number): Promise<void> {
    await this.service.pass(this.service.time.nowMs + duration * seconds);
  }
}

/** Disturbs the clocks of the machine and its disk, between two ticks or while one is under way. */
export function disturbAtRandom(service: VirtualService): void {
  const { random, time, outside } = service;
  const nextMs = () => seconds * (random.chance(0.5) ? random.integer(0, 20) : random.integer(20, 400));
  service.repeat(nextMs, () => {
    const kind = random.pick(['step', 'step', 'step', 'step', 'sleep', 'sleep', 'rate', 'disk'] as const);
    if (kind === 'disk') return fillDisk(service);
    const happen = () => {
      if (kind === 'step') time.step(randomStep(random));
      if (kind === 'sleep') time.sleep(random.integer(1, random.pick([300, 7200])));
      if (kind === 'rate') time.runAt(0.9 + 0.2 * random.next());
    };
    const at = random.pick(['any time', 'any time', 'capture', 'check'] as const);
    if (at === 'any time') happen();
    else outside.interruptions.push({ at, run: happen });
  });
}

function fillDisk(service: VirtualService): void {
  const { random, outside } = service;
  outside.diskFullShare = 1;
  service.after(seconds * random.pick([random.integer(1, 60), random.integer(600, 800)]), () => {
    outside.diskFullShare = 0;
    // The writes that waited are tried again.
    outside.disturbances += 1;
  });
}

function randomStep(random: Random): number {
  return random.pick([random.integer(-7200, 7200), random.integer(-60, 60), random.pick([-3600, 3600])]);
}
