import { compareMotion, compareStates } from '../../adapters/media/motion/compare-motion.ts';
import { decodeState } from '../../adapters/media/motion/state-codec.ts';
import { motionTuning } from '../../adapters/media/motion/tuning.ts';
import { isDifferent } from './detectors.ts';
import type { Clip } from './score.ts';

/** Decision times of one detector, in microseconds. */
export type Times = { name: string; least: number; median: number; p95: number };
/** Decision times, and sizes of the state in bytes. */
export type Timing = { times: Times[]; stateBytes: { median: number; p95: number; max: number } };

const rounds = 20;

/**
 * Measures microseconds per decision, beside a plain copy and difference of the thumbnail. The variants run in
 * turn, so that other load slows all of them equally. A decision excludes encoding and decoding the state.
 */
export function timeDecisions(clips: readonly Clip[]): Timing {
  const steps = clips.flatMap(timedSteps);
  const runs = {
    'copy and difference': ({ before, now }: TimedStep) => isDifferent(before, now.slice()),
    decision: ({ now, unpacked }: TimedStep) => compareStates(now, unpacked, motionTuning).moved,
    'with encoding and decoding of the state': ({ now, state }: TimedStep) => compareMotion(now, state).moved,
  };
  const taken = new Map<string, number[]>(Object.keys(runs).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const step of steps) {
      for (const [name, run] of Object.entries(runs)) {
        const startedMs = performance.now();
        run(step);
        if (round >= rounds / 4) taken.get(name)!.push((performance.now() - startedMs) * 1000);
      }
    }
  }
  const sizes = steps.map(({ state }) => state.length).toSorted((a, b) => a - b);
  return {
    times: [...taken].map(([name, times]) => ({ name, ...quantiles(times) })),
    stateBytes: { median: at(sizes, 0.5), p95: at(sizes, 0.95), max: sizes.at(-1)! },
  };
}

type TimedStep = {
  before: Uint8Array;
  now: Uint8Array;
  state: string;
  unpacked: NonNullable<ReturnType<typeof decodeState>>;
};

/** Returns the tenth tick of a clip, whose noise is learned. */
function timedSteps({ pictures }: Clip): TimedStep[] {
  const now = pictures[10];
  const state = pictures
    .slice(0, 10)
    .reduce<string | null>((known, picture) => compareMotion(picture, known).stateWithNewReference, null);
  const unpacked = decodeState(state);
  const before = pictures[9];
  return now && before && state !== null && unpacked
    ? [{ before: new Uint8Array(before), now: new Uint8Array(now), state, unpacked }]
    : [];
}

function quantiles(times: number[]): { least: number; median: number; p95: number } {
  const sorted = times.toSorted((a, b) => a - b);
  return { least: sorted[0]!, median: at(sorted, 0.5), p95: at(sorted, 0.95) };
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.floor((sorted.length - 1) * share)]!;
}
