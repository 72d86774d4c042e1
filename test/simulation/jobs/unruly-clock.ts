import fc from 'fast-check';
import type { VirtualTime } from '../virtual-time.ts';
import type { VirtualStream } from './job-service.ts';

/** Disturbances of the clocks of a machine during a job of two hours, one after the other. */

export type Disturbance = {
  kind: 'sleep' | 'step' | 'rate' | 'full disk';
  /** Length of a sleep or a step of the clock, or time for which the disk stays full, in seconds. */
  seconds: number;
  /** Rate of a slow or fast wall clock, in seconds per second. */
  rate: number;
  /** Between two ticks, or while one is under way. */
  at: 'any time' | 'capture' | 'check';
  /** Seconds of undisturbed time after it. */
  calmSeconds: number;
};

const stepSeconds = fc.oneof(
  fc.integer({ min: -7200, max: 7200 }),
  fc.integer({ min: -60, max: 60 }),
  fc.constantFrom(-3600, 3600),
);

const common = {
  rate: fc.double({ min: 0.9, max: 1.1, noNaN: true }),
  at: fc.constantFrom('any time' as const, 'any time' as const, 'capture' as const, 'check' as const),
  calmSeconds: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 20, max: 400 })),
};

const disturbance: fc.Arbitrary<Disturbance> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ ...common, kind: fc.constant('step' as const), seconds: stepSeconds }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...common,
      kind: fc.constant('sleep' as const),
      seconds: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 300, max: 7200 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ ...common, kind: fc.constant('rate' as const), seconds: fc.constant(0) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...common,
      kind: fc.constant('full disk' as const),
      seconds: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 600, max: 800 })),
    }),
  },
);

export const disturbances = fc.array(disturbance, { minLength: 5, maxLength: 30, size: 'max' });

/** A look of the model: the condition holds in a pattern of the frames, whatever the clocks read. */
export type Check = { frame: number; holds: boolean; wallSeconds: number; awakeSeconds: number };

/** A healthy stream on a machine whose clocks are disturbed while a tick is under way. */
export function createDisturbedStream(clock: VirtualTime, holdsIn: (frame: number) => boolean) {
  let frames = 0;
  const checks = new Map<number, Check>();
  const waiting: { at: Disturbance['at']; disturb: () => void }[] = [];

  function disturb(at: Disturbance['at']): void {
    const next = waiting.findIndex((each) => each.at === at);
    if (next >= 0) waiting.splice(next, 1)[0]?.disturb();
  }

  const stream: VirtualStream = {
    capture: async () => {
      disturb('capture');
      frames += 1;
      return {
        frame: Buffer.from(String(frames)),
        thumbnail: new Uint8Array(),
        capturedAt: clock.now(),
        position: { segment: `${frames}:/${frames}.ts`, segment_seconds: 2 },
      };
    },
    judge: async ({ frame: bytes }) => {
      disturb('check');
      const frame = Number(Buffer.from(bytes).toString());
      const holds = holdsIn(frame);
      // A repeated check of the same frame: its commit did not find room on the disk.
      checks.set(frame, {
        frame,
        holds,
        wallSeconds: clock.now().getTime() / 1000,
        awakeSeconds: clock.monotonicMs() / 1000,
      });
      return { triggered: holds, explanation: 'As scripted.', tokens: { input_tokens: 1, output_tokens: 1 } };
    },
    compareMotion: () => ({
      moved: true,
      changedShare: 0.1,
      black: false,
      identicalToPrevious: false,
      stateWithNewReference: 'looked',
      stateWithSameReference: 'skipped',
      earlier: [],
    }),
  };
  return {
    stream,
    checks: () => [...checks.values()],
    disturbNext: (at: Disturbance['at'], run: () => void) => void waiting.push({ at, disturb: run }),
  };
}

/**
 * The least and the most seconds from each check to the one before, as the service can know them: by the wall clock, which counts a
 * sleep and a step forward. Of a wall clock that was set back it knows that it waited an interval, and not how late the tick was.
 */
export function knownSeconds(checks: Check[], intervalSeconds: number): { min: number; max: number }[] {
  return checks.map((check, index) => {
    const before = checks[index - 1];
    if (!before) return { min: 0, max: 0 };
    const awake = check.awakeSeconds - before.awakeSeconds;
    const wall = check.wallSeconds - before.wallSeconds;
    const setBack = wall < awake - clockDifferenceSeconds;
    return {
      min: setBack ? Math.min(awake, Math.max(wall, intervalSeconds)) : wall,
      max: Math.max(wall, awake),
    };
  });
}

export const clockDifferenceSeconds = 5;
