import { beforeEach, describe, expect, test } from 'vitest';
import { StreamPausedError, TransientError } from '../../../core/errors.ts';
import { captureTick } from '../../../core/workflow/capture-tick.ts';
import { createMonitor } from '../../support/create-jobs.ts';
import type { StreamCapturer, ScanningCapturer } from '../../../core/ports/stream-capturer.ts';
import type { CaptureInput } from '../../../core/records/workflow.ts';
import { addSeconds } from '../../../core/time.ts';
import { createWorld, monitorRequest, type World } from '../../support/world.ts';
import { scriptScan } from '../../support/watches/scans.ts';

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
        ...world.c.streams,
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
    const { run_id } = await createMonitor(monitorRequest(), 'harbour', world.c);
    world.c.runs.source = async () => undefined;
    let step = await world.begin({ run_id, generation: 0 });
    for (let ticks = 0; ticks < 100 && !step.done; ticks += 1) step = await world.tick(step);
    expect(await world.c.jobs.get(run_id, world.c.now())).toMatchObject({ status: 'failed' });
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

describe('a capture that looks back', () => {
  const scanning = () => {
    const requests: unknown[] = [];
    const { capture } = world.c.streams;
    return {
      requests,
      deps: {
        ...world.c,
        runs: {
          source: async (id: string) => ({ ...(await world.c.jobs.source(id))!, look_back: true }),
        },
        streams: {
          ...world.c.streams,
          capture: (...given: Parameters<typeof capture>) => {
            requests.push(given[0].lookBack);
            return capture(...given);
          },
        },
      },
    };
  };
  const visit = [
    { before: 8, shows: 'quiet' },
    { before: 6, shows: 'visitor' },
    { before: 4, shows: 'visitor' },
    { before: 2, shows: 'quiet' },
  ] as const;
  const seenAt = (scan?: string) => {
    const at = world.clock.now.toISOString();
    const position = { segment: '0:/0.ts', segment_seconds: 2, ...(scan && { scan }) };
    return { position, since: at, identical_since: null, seen_at: at };
  };

  test('a capture stores the moments of a visit beside its newest frame, with the facts of the scan', async () => {
    const { deps } = scanning();
    scriptScan(world, 0, visit, { coveredSeconds: 9.5, leftOutSeconds: 0.5 });
    const captured = await captureTick({ ...input, seen: seenAt('s1') }, deps);
    if (captured.kind !== 'captured') throw new Error(captured.kind);
    const before = (seconds: number) => addSeconds(world.clock.now, -seconds).toISOString();
    expect(captured).toMatchObject({
      moments: [
        { captured_at: before(6), changed_share: 0.1 },
        { captured_at: before(4), changed_share: 0.1 },
      ],
      scan: {
        frames: 4,
        covered_seconds: 9.5,
        left_out_seconds: 0.5,
        distance_seconds: 2,
        quiet: [before(8), before(2)],
      },
    });
    const name = captured.frame_key.replace(/\.jpg$/, '');
    expect(captured.moments?.map(({ frame_key: key }) => key)).toEqual([`${name}-1.jpg`, `${name}-2.jpg`]);
    expect(captured.moments?.map(({ frame_key: key }) => world.pictures.get(key)?.[2])).toEqual([6, 4]);
  });

  test.each([
    { first: 3, coveredSeconds: 10, distance: 7 },
    { first: 9, coveredSeconds: 10, distance: 6 },
    { first: 9, coveredSeconds: 0, distance: 6 },
  ])(
    'a capture of $coveredSeconds s whose scan begins with a frame $first s before the newest one was blind for $distance s at a time',
    async ({ first, coveredSeconds, distance }) => {
      const { deps } = scanning();
      const frames = [{ before: first, shows: 'unchanged' as const }];
      scriptScan(world, 0, frames, { coveredSeconds, distanceSeconds: first === 3 ? 3 : 6 });
      const captured = await captureTick({ ...input, seen: seenAt('s1') }, deps);
      expect(captured).toMatchObject({ scan: { distance_seconds: distance } });
    },
  );

  test('a capture continues at the position of the last scan, also after captures that could not scan', async () => {
    const { deps, requests } = scanning();
    const first = await captureTick(input, deps);
    const position = { segment: '1:/1.ts', segment_seconds: 2, scan: 's1' };
    world.script.captures.push({ position });
    const second = await captureTick({ ...input, ...first }, deps);
    if (second.kind !== 'captured') throw new Error(second.kind);
    const third = await captureTick({ ...input, seen: second.seen }, deps);
    if (third.kind !== 'captured') throw new Error(third.kind);
    await captureTick({ ...input, seen: third.seen }, deps);
    expect(requests).toEqual([null, null, 's1', 's1'].map((since) => ({ since })));
  });

  test('a source without the field asks for no scan', async () => {
    const { deps, requests } = scanning();
    await captureTick(input, { ...deps, runs: world.c.runs });
    expect(requests).toEqual([undefined]);
  });

  test.each([
    ['is gone', async () => null],
    ['cannot be decoded', () => Promise.reject(new Error('no key frame'))],
  ])('a moment whose picture %s is left out', async (_, picture) => {
    const { deps } = scanning();
    scriptScan(world, 0, visit);
    const frames = world.script.captures[0] instanceof Error ? [] : world.script.captures[0]?.scan?.frames;
    const read = deps.streams.picture;
    const streams: ScanningCapturer = {
      ...deps.streams,
      picture: async (frame, ...rest) => (frame === frames?.[1] ? picture() : read(frame, ...rest)),
    };
    expect(await captureTick({ ...input, seen: seenAt() }, { ...deps, streams })).toMatchObject({
      moments: [{ captured_at: addSeconds(world.clock.now, -4).toISOString() }],
    });
  });

  test('pictures that take longer than a capture may are left out, and the capture is kept', async () => {
    const { deps } = scanning();
    scriptScan(world, 0, visit);
    const limits = { ...deps.limits, captureTimeoutSeconds: 0.05 };
    const streams: ScanningCapturer = { ...deps.streams, picture: () => new Promise(() => undefined) };
    const captured = await captureTick({ ...input, seen: seenAt() }, { ...deps, limits, streams });
    expect(captured).toMatchObject({ kind: 'captured', scan: { frames: 4 } });
    expect(captured).not.toHaveProperty('moments');
  });

  test.each([
    ['repeated', '0:/0.ts', false],
    ['scanned', '1:/1.ts', true],
  ])('a %s picture has no moments', async (_, segment, isSeen) => {
    const { deps } = scanning();
    scriptScan(world, 0, visit, { isSeen });
    Object.assign(world.script.captures[0]!, { position: { segment, segment_seconds: 2 } });
    const captured = await captureTick({ ...input, seen: seenAt() }, deps);
    expect(captured).not.toHaveProperty('moments');
    expect(captured).toHaveProperty('repeated', isSeen || segment === '0:/0.ts');
  });

  test('a visit before a black picture has moments', async () => {
    const { deps } = scanning();
    world.script.black.push(true);
    scriptScan(world, 0, [...visit.slice(0, 3), { before: 2, shows: 'black' }]);
    expect(await captureTick({ ...input, seen: seenAt() }, deps)).toMatchObject({
      black: true,
      moments: [6, 4].map((before) => ({ captured_at: addSeconds(world.clock.now, -before).toISOString() })),
    });
  });
});
