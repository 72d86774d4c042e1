import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StreamPausedError, TransientError } from '../../../core/errors.ts';
import { captureTick } from '../../../core/workflow/capture-tick.ts';
import { createMonitor } from '../../support/create-jobs.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import type { CaptureInput } from '../../../core/records/workflow.ts';
import { addSeconds } from '../../../core/time.ts';
import { createWorld, monitorRequest } from '../../support/world.ts';
import type { World } from '../../support/world.ts';

let world: World;
let input: CaptureInput;
beforeEach(async () => {
  world = createWorld();
  const job = await createMonitor(monitorRequest(), 'harbour', world.c);
  input = {
    source_id: job.source_id,
    tick: 1,
    closing: false,
    resolve_again: false,
    seen: null,
    motion: null,
  };
});
afterEach(() => world.close());

const capturing = (capture: StreamCapturer['capture']) => ({
  ...world.c,
  streams: { ...world.c.streams, capture },
});

describe('a capture', () => {
  test('a capture that times out is reported as failed', async () => {
    const hanging = capturing(
      (_, signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    const impatient = { ...hanging, limits: { ...world.c.limits, captureTimeoutSeconds: 0.02 } };
    expect(await captureTick(input, impatient)).toMatchObject({
      kind: 'failed',
      code: 'STREAM_FETCH_FAILED',
    });
  });

  test('a lost camera that answers a probe late has the rest of the time for its capture', async () => {
    const source = async () => ({
      source_id: input.source_id,
      caller: 'harbour',
      url: 'rtsp://192.168.1.20/stream',
      input_mode: 'frames' as const,
      clip_duration_seconds: 3,
    });
    const { probe } = world.c.streams;
    const late = {
      ...world.c,
      runs: { source },
      limits: { ...world.c.limits, captureTimeoutSeconds: 12, lostCameraSeconds: 30 },
      streams: {
        probe: async (...args: Parameters<typeof probe>) => {
          world.clock.now = addSeconds(world.clock.now, 11);
          return probe(...args);
        },
        capture: (_: unknown, signal: AbortSignal) =>
          new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      },
    };
    expect(await captureTick({ ...input, probes_lost: true, resolve_again: true }, late)).toMatchObject({
      kind: 'failed',
      remediation: expect.stringContaining('no picture within 1 s'),
    });
  });

  test('a capture without a source is a failed one, so that a deleted watch ends and an active job fails', async () => {
    expect(await captureTick({ ...input, source_id: crypto.randomUUID() }, world.c)).toMatchObject({
      kind: 'failed',
      code: 'STREAM_FETCH_FAILED',
    });
    const { run_id: job_id } = await createMonitor(monitorRequest(), 'harbour', world.c);
    world.c.runs.source = async () => undefined;
    let step = await world.begin({ job_id, generation: 0 });
    for (let ticks = 0; ticks < 100 && !step.done; ticks += 1) step = await world.tick(step);
    expect(await world.c.jobs.get(job_id, world.c.now())).toMatchObject({ status: 'failed' });
  });

  test('a burst that outlives its cancelled job requests no stream', async () => {
    const source = async (id: string) => ({ ...(await world.c.jobs.source(id))!, ended: true as const });
    const never = capturing(() => Promise.reject(new Error('requested')));
    expect(await captureTick(input, { ...never, runs: { source } })).toMatchObject({ kind: 'not_captured' });
  });

  test('a capture that its caller aborts throws', async () => {
    const hanging = capturing(
      (_, signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    await expect(captureTick(input, hanging, AbortSignal.timeout(20))).rejects.toThrow();
  });

  test.each([
    [
      'cannot be taken by this machine',
      () => capturing(() => Promise.reject(new TransientError('ffmpeg could not be started'))),
    ],
    ['is of an advertisement', () => capturing(() => Promise.reject(new StreamPausedError()))],
    [
      'cannot be kept by this machine',
      () => ({
        ...world.c,
        media: { ...world.c.media, put: () => Promise.reject(new TransientError('The disk is full')) },
      }),
    ],
  ])('a capture that %s costs a tick and does not count as stream loss', async (_, faulty) => {
    expect(await captureTick(input, faulty())).toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/\w/),
    });
  });

  test.each([
    ['has stood still since then', false, 0],
    ['has not, if the captures between them failed', true, null],
  ])('a picture that is identical to the one before %s', async (_, resolve_again, seconds) => {
    const still = { ...world.c.compareMotion(new Uint8Array(), null, []), identicalToPrevious: true };
    const before = { segment: '1:/1.ts', segment_seconds: 2 };
    const at = world.clock.now.toISOString();
    const seen = { position: before, since: at, identical_since: null, seen_at: at };
    world.advance(60);
    const result = await captureTick(
      { ...input, resolve_again, seen },
      { ...world.c, compareMotion: () => still },
    );
    expect(result).toMatchObject({ seen: { identical_since: seconds === null ? null : at } });
  });

  test('a defect in a capture is thrown, so that the workflow closes the job', async () => {
    await expect(
      captureTick(
        input,
        capturing(() => Promise.reject(new RangeError('boom'))),
      ),
    ).rejects.toThrow('boom');
  });
});
