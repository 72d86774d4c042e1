import { randomFrom, createSeed } from './random.ts';
import { baseScene } from './base-scene.ts';
import type { Overlay, Scene } from './scene.ts';

/**
 * Classes without events: every check after the first is unnecessary. A recipe changes the base scene of its seed.
 */
const recipes: Record<string, (seed: number) => Partial<Scene>> = {
  'no noise': () => ({ noise: 0 }),
  'noise 5': () => ({ noise: 5 }),
  'noise 15': () => ({ noise: 15 }),
  'noise 30': () => ({ noise: 30 }),
  'night, noise 20': () => ({ light: { kind: 'night' }, noise: 20 }),
  'strong compression': () => ({ noise: 8, encoding: encoded({ crf: 42 }) }),
  'starved bit rate': () => ({
    noise: 12,
    encoding: { rate: { kilobits: 200 }, framesPerTick: 4, group: 4, sampled: 'first' },
  }),
  'noise 60, starved bit rate': () => ({
    noise: 60,
    encoding: { rate: { kilobits: 1200 }, framesPerTick: 2, group: 2, sampled: 'first' },
  }),
  'key-frame pulsing': () => ({
    noise: 8,
    encoding: { rate: { crf: 36 }, framesPerTick: 3, group: 8, sampled: 'any' },
  }),
  'small clock': (seed) => ({ overlays: [clock(seed, 20, 34)] }),
  'large clock': (seed) => ({ overlays: [clock(seed, 50, 88)] }),
  'news ticker': (seed) => ({ overlays: [ticker(seed)] }),
  'slow light': (seed) => ({
    light: { kind: 'drift', ...randomFrom(seed).pick([brightening, darkening]) },
  }),
  'exposure steps': (seed) => ({ light: steps(randomFrom(seed).pick([0.75, 1.25, 1.4]), 0, 0) }),
  'white balance steps': (seed) => ({
    light: steps(1, randomFrom(seed).pick([-8, -5, 5, 8]), randomFrom(seed).pick([-6, 6])),
  }),
  flicker: (seed) => ({ light: { kind: 'flicker', depth: randomFrom(seed).between(0.03, 0.08) } }),
  clouds: (seed) => ({
    light: { kind: 'clouds', depth: randomFrom(seed).between(0.12, 0.3), pixelsPerTick: 60 },
  }),
  rain: (seed) => ({ weather: { kind: 'rain', amount: randomFrom(seed).whole(100, 600) } }),
  snow: (seed) => ({ weather: { kind: 'snow', amount: randomFrom(seed).whole(100, 500) } }),
  'shake 3 px': () => ({ shake: 3 }),
  'shake 8 px': () => ({ shake: 8 }),
  'overlay, noise, compression': (seed) => ({
    overlays: [clock(seed, 24, 40)],
    noise: 15,
    encoding: encoded({ crf: 36 }),
  }),
};

const brightening = { from: 0.8, to: 1.2 };
const darkening = { from: 1.15, to: 0.7 };

/** Classes of the savings goal: noise and overlays, alone and together. */
export const savingsGoal: readonly string[] = [
  'no noise',
  'noise 5',
  'noise 15',
  'noise 30',
  'night, noise 20',
  'small clock',
  'large clock',
  'overlay, noise, compression',
];

/** Titles of all still classes. */
export const stillTitles: readonly string[] = Object.keys(recipes);

/** Creates the scene of a still class and a seed. */
export function stillScene(title: string, index: number): Scene {
  const recipe = recipes[title];
  if (!recipe) throw new Error(`Unknown still class: ${title}`);
  const seed = createSeed(`still ${title}`, index);
  return { ...baseScene(title, seed, 40), ...recipe(seed) };
}

/** Returns the encoding settings of a rate. */
export function encoded(rate: Scene['encoding']['rate']): Scene['encoding'] {
  return { rate, framesPerTick: 1, group: 1, sampled: 'first' };
}

/** Creates an overlay with date and time in one of the corners. */
export function clock(seed: number, smallest: number, largest: number): Overlay {
  const random = randomFrom(seed + 5);
  const height = random.whole(smallest, Math.min(largest, 58));
  const wide = Math.round((height / 7) * 6) * 19;
  return {
    kind: 'clock',
    font: random.pick(['dots', 'bold', 'dots']),
    height,
    x: random.pick([16, Math.max(1280 - wide - 16, 8)]),
    y: random.pick([12, 720 - height - 14]),
    box: random.pick([true, false]),
  };
}

function ticker(seed: number): Overlay {
  const random = randomFrom(seed + 6);
  const height = random.whole(28, 48);
  return { kind: 'ticker', font: 'bold', height, x: 0, y: 720 - height - random.whole(16, 30), box: false };
}

function steps(gain: number, blueness: number, redness: number): Scene['light'] {
  return { kind: 'steps', everyTicks: 7, gain, blueness, redness };
}
