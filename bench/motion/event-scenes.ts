import { baseScene } from './base-scene.ts';
import { type Random, randomFrom, createSeed } from './random.ts';
import { picture, type Scene, type SceneEvent, shares, type Thing } from './scene.ts';
import { clock, encoded } from './still-scenes.ts';
import { filled } from './things.ts';

/**
 * Classes with events: one clip shows an object of each size in turn, at positions of its seed. `looks` describes
 * its difference from the background, `story` its behavior.
 */
type Recipe = {
  scene?: (seed: number) => Partial<Scene>;
  looks: Looks;
  story: Story;
  shape?: Thing['shape'];
};
type Looks = (random: Random) => Pick<Thing, 'luma' | 'blueness' | 'redness'>;
type Story = (size: Sized, random: Random, start: number) => Told;
type Sized = { share: number; width: number; height: number };
type Told = { places: Thing['places']; events: SceneEvent[]; ticks: number };

/** Levels of an ordinary object: clothes, cars and animals against their background. */
const ordinary: Looks = (random) => ({
  luma: random.between(32, 90) * random.pick([-1, 1]),
  blueness: random.between(-12, 12),
  redness: random.between(-12, 12),
});
const lowContrast: Looks = (random) => ({
  luma: random.between(16, 26) * random.pick([-1, 1]),
  blueness: 0,
  redness: 0,
});
/** Color without a change of brightness. */
const equalBrightness: Looks = (random) => ({
  luma: null,
  blueness: random.between(18, 45) * random.pick([-1, 1]),
  redness: random.between(18, 45) * random.pick([-1, 1]),
});

const recipes: Record<string, Recipe> = {
  'comes and leaves': { looks: ordinary, story: comesAndLeaves },
  'moves fast': { looks: ordinary, story: movesFast },
  'moves slowly': { looks: ordinary, story: movesSlowly },
  'fades in': { looks: ordinary, story: fadesIn },
  'low contrast': { looks: lowContrast, story: comesAndLeaves },
  'colour of equal brightness': { looks: equalBrightness, story: comesAndLeaves },
  person: { looks: ordinary, story: comesAndLeaves, shape: 'person' },
  'night, noise 20': {
    // Before the night dimming, which keeps a sixth: 10 to 25 levels.
    looks: (random) => ({ luma: random.between(65, 160), blueness: 0, redness: 0 }),
    story: comesAndLeaves,
    scene: () => ({ light: { kind: 'night' }, noise: 20 }),
  },
  rain: {
    looks: ordinary,
    story: comesAndLeaves,
    scene: () => ({ weather: { kind: 'rain', amount: 400 } }),
  },
  snow: {
    looks: ordinary,
    story: comesAndLeaves,
    scene: () => ({ weather: { kind: 'snow', amount: 300 } }),
  },
  'shake 5 px': { looks: ordinary, story: comesAndLeaves, scene: () => ({ shake: 5 }) },
  'clock overlay': {
    looks: ordinary,
    story: comesAndLeaves,
    scene: (seed) => ({ overlays: [clock(seed, 20, 58)] }),
  },
  'strong compression': {
    looks: ordinary,
    story: comesAndLeaves,
    scene: () => ({ noise: 8, encoding: encoded({ crf: 40 }) }),
  },
  'overlay, noise, compression': {
    looks: ordinary,
    story: comesAndLeaves,
    scene: (seed) => ({ overlays: [clock(seed, 24, 40)], noise: 15, encoding: encoded({ crf: 36 }) }),
  },
  clouds: {
    looks: ordinary,
    story: comesAndLeaves,
    scene: () => ({ light: { kind: 'clouds', depth: 0.2, pixelsPerTick: 60 } }),
  },
};

/** Titles of all event classes. */
export const eventTitles: readonly string[] = Object.keys(recipes);

/** Ticks before the first event, in which clocks and noise are learned. */
const warmUp = 5;

/** Creates the scene of an event class and a seed. */
export function eventScene(title: string, index: number): Scene {
  const recipe = recipes[title];
  if (!recipe) throw new Error(`Unknown event class: ${title}`);
  const seed = createSeed(`event ${title}`, index);
  const random = randomFrom(seed * 101 + 7);
  const things: Thing[] = [];
  const events: SceneEvent[] = [];
  let tick = warmUp;
  for (const share of random.shuffled(shares)) {
    const shape = recipe.shape ?? random.pick(['box', 'ellipse']);
    const { width, height } = computeSize(shape, share, random);
    const story = recipe.story({ share, width, height }, random, tick);
    things.push({
      shape,
      width,
      height,
      ...recipe.looks(random),
      seed: random.whole(1, 1_000_000),
      places: story.places,
    });
    events.push(...story.events);
    tick += story.ticks;
  }
  return { ...baseScene(title, seed, tick), ...recipe.scene?.(seed), things, events };
}

function computeSize(shape: Thing['shape'], share: number, random: Random): Pick<Thing, 'width' | 'height'> {
  const area = (share * picture.width * picture.height) / filled[shape];
  const aspect = shape === 'person' ? 0.38 : random.between(0.6, 1.8);
  const width = Math.round(Math.sqrt(area * aspect));
  return { width, height: Math.round(area / width) };
}

/** Present for two ticks, absent for two. */
function comesAndLeaves(size: Sized, random: Random, start: number): Told {
  const place = anywhere(size, random);
  const { share } = size;
  return {
    places: [{ fromTick: start, toTick: start + 1, ...place, opacity: 1 }],
    events: [
      { kind: 'appears', share, fromTick: start, byTick: start },
      { kind: 'vanishes', share, fromTick: start + 2, byTick: start + 2 },
    ],
    ticks: 4,
  };
}

/** At another position at every tick, like most moving objects after ten seconds. */
function movesFast(size: Sized, random: Random, start: number): Told {
  const { share } = size;
  const at = (tick: number) => ({
    fromTick: tick,
    toTick: tick,
    ...anywhere(size, random),
    opacity: 1,
  });
  const moves = [start + 1, start + 2];
  return {
    places: [start, ...moves].map(at),
    events: moves.map((tick) => ({ kind: 'moves', share, fromTick: tick, byTick: tick })),
    ticks: 5,
  };
}

/** Moves by a quarter of its width per tick. After four ticks it has left its position in the reference. */
function movesSlowly(size: Sized, random: Random, start: number): Told {
  const { share, width } = size;
  const { x, y } = anywhere({ ...size, width: 2 * width }, random);
  const steps = [0, 1, 2, 3, 4];
  return {
    places: steps.map((step) => ({
      fromTick: start + step,
      toTick: start + step,
      x: x + (step * width) / 4,
      y,
      opacity: 1,
    })),
    events: [{ kind: 'moves', share, fromTick: start + 1, byTick: start + 4 }],
    ticks: 6,
  };
}

/** Appears over six ticks. Each step is too faint to detect alone, so the change must accumulate. */
function fadesIn(size: Sized, random: Random, start: number): Told {
  const place = anywhere(size, random);
  const steps = [1, 2, 3, 4, 5, 6];
  return {
    places: steps.map((step) => ({
      fromTick: start + step - 1,
      toTick: start + step - 1,
      ...place,
      opacity: step / 6,
    })),
    events: [{ kind: 'appears', share: size.share, fromTick: start, byTick: start + 5 }],
    ticks: 8,
  };
}

function anywhere({ width, height }: { width: number; height: number }, random: Random) {
  return {
    x: Math.max(random.between(0, picture.width - width), 0),
    y: Math.max(random.between(0, picture.height - height), 0),
  };
}
