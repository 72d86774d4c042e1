import { randomFrom } from './random.ts';
import type { BackgroundKind, Scene } from './scene.ts';

const kinds: readonly BackgroundKind[] = [
  'hills',
  'street',
  'room',
  'foliage',
  'street',
  'hills',
  'room',
  'foliage',
  'street',
  'hills',
];

/** Creates the scene of a day camera on one of the backgrounds, with little noise and a good bit rate. */
export function baseScene(title: string, seed: number, ticks: number): Scene {
  const random = randomFrom(seed);
  return {
    title,
    seed,
    ticks,
    background: { kind: random.pick(kinds), seed: random.whole(1, 1_000_000) },
    light: { kind: 'day' },
    noise: 6,
    shake: 0,
    weather: { kind: 'none', amount: 0 },
    overlays: [],
    encoding: { rate: { crf: 26 }, framesPerTick: 1, group: 1, sampled: 'first' },
    things: [],
    events: [],
  };
}
