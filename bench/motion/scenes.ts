import { createSeed, type Random, randomFrom } from './texture.ts';

/** Labeled clip as plain data, which is the cache key. It is fully determined by a seed. */
export type Scene = {
  /** Row of the table. */
  title: string;
  seed: number;
  ticks: number;
  background: { kind: BackgroundKind; seed: number };
  light: Light;
  /** Strength of ffmpeg's temporal noise filter at 720p: 4 for a good camera by day, 20 or more for a bad one at night. */
  noise: number;
  /** Maximum displacement in each direction, in pixels at 720p. */
  shake: number;
  weather: { kind: 'none' | 'rain' | 'snow'; amount: number };
  overlays: Overlay[];
  encoding: Encoding;
  things: Thing[];
  /** Empty in still scenes. */
  events: SceneEvent[];
};

export type BackgroundKind = 'hills' | 'foliage' | 'street' | 'room';

/** Change of light over a clip. */
type Light =
  | { kind: 'day' | 'night' }
  /** Gain changes linearly over the clip. */
  | { kind: 'drift'; from: number; to: number }
  /** Gain and offset jump every few ticks. `blueness` and `redness` are shifts of white balance in levels. */
  | { kind: 'steps'; everyTicks: number; gain: number; blueness: number; redness: number }
  /** Moving bands, like lamps on mains with a rolling shutter. */
  | { kind: 'flicker'; depth: number }
  | { kind: 'clouds'; depth: number; pixelsPerTick: number };

/** Clock or ticker over the scene; `height` is that of a digit, in pixels at 720p. */
export type Overlay = {
  kind: 'clock' | 'ticker';
  font: 'dots' | 'bold';
  height: number;
  x: number;
  y: number;
  box: boolean;
};

/** Encoding: frames per tick, of GOP `group`; `sampled` selects the frame of the thumbnail. */
type Encoding = {
  rate: { crf: number } | { kilobits: number };
  framesPerTick: number;
  group: number;
  sampled: 'first' | 'any';
};

/** Object with its position per tick. */
export type Thing = {
  shape: 'box' | 'ellipse' | 'person';
  width: number;
  height: number;
  /** Levels above the mean of the background; `null` keeps the brightness and changes only the color. */
  luma: number | null;
  blueness: number;
  redness: number;
  seed: number;
  places: { fromTick: number; toTick: number; x: number; y: number; opacity: number }[];
};

/** Event that must be detected in one of the ticks from `fromTick` to `byTick`, inclusive. */
type SceneEvent = { share: number; fromTick: number; byTick: number };

/** Size of all frames, in pixels. */
export const picture = { width: 1280, height: 720 } as const;
/** Sizes of objects, as shares of the frame. */
export const shares = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1] as const;

const backgrounds: readonly BackgroundKind[] = [
  ...(['hills', 'street', 'room', 'foliage', 'street'] as const),
  ...(['hills', 'room', 'foliage', 'street', 'hills'] as const),
];

/** Creates the scene of a day camera on one of the backgrounds, with little noise and a good bit rate. */
function baseScene(title: string, seed: number, ticks: number): Scene {
  const random = randomFrom(seed);
  return {
    title,
    seed,
    ticks,
    background: { kind: random.pick(backgrounds), seed: random.whole(1, 1_000_000) },
    light: { kind: 'day' },
    noise: 6,
    shake: 0,
    weather: { kind: 'none', amount: 0 },
    overlays: [],
    encoding: encoded({ crf: 26 }),
    things: [],
    events: [],
  };
}

function encoded(rate: Encoding['rate'], framesPerTick = 1, group = framesPerTick): Encoding {
  return { rate, framesPerTick, group, sampled: group > framesPerTick ? 'any' : 'first' };
}

/** Creates an overlay with date and time in one of the corners. */
function clock(seed: number, smallest: number, largest: number): Overlay {
  const random = randomFrom(seed + 5);
  const height = random.whole(smallest, Math.min(largest, 58));
  const wide = Math.round((height / 7) * 6) * 19;
  return {
    kind: 'clock',
    font: random.pick(['dots', 'bold', 'dots']),
    height,
    x: random.pick([16, Math.max(picture.width - wide - 16, 8)]),
    y: random.pick([12, picture.height - height - 14]),
    box: random.pick([true, false]),
  };
}

function ticker(seed: number): Overlay {
  const random = randomFrom(seed + 6);
  const height = random.whole(28, 48);
  const y = picture.height - height - random.whole(16, 30);
  return { kind: 'ticker', font: 'bold', height, x: 0, y, box: false };
}

function drift(from: number, to: number): Light {
  return { kind: 'drift', from, to };
}

function steps(gain: number, blueness: number, redness: number): Light {
  return { kind: 'steps', everyTicks: 7, gain, blueness, redness };
}

/** Changes the base scene of a seed. */
type Recipe = (seed: number, random: Random) => Partial<Scene>;

/** Classes without events: every check after the first is unnecessary. */
const stillRecipes = {
  'no noise': () => ({ noise: 0 }),
  'noise 5': () => ({ noise: 5 }),
  'noise 15': () => ({ noise: 15 }),
  'noise 30': () => ({ noise: 30 }),
  'night, noise 20': () => ({ light: { kind: 'night' }, noise: 20 }),
  'strong compression': () => ({ noise: 8, encoding: encoded({ crf: 42 }) }),
  'starved bit rate': () => ({ noise: 12, encoding: encoded({ kilobits: 200 }, 4) }),
  'noise 60, starved bit rate': () => ({ noise: 60, encoding: encoded({ kilobits: 1200 }, 2) }),
  'key-frame pulsing': () => ({ noise: 8, encoding: encoded({ crf: 36 }, 3, 8) }),
  'small clock': (seed) => ({ overlays: [clock(seed, 20, 34)] }),
  'large clock': (seed) => ({ overlays: [clock(seed, 50, 88)] }),
  'news ticker': (seed) => ({ overlays: [ticker(seed)] }),
  'slow light': (_, random) => ({
    light: random.pick([drift(0.8, 1.2), drift(1.15, 0.7)]),
  }),
  'exposure steps': (_, random) => ({ light: steps(random.pick([0.75, 1.25, 1.4]), 0, 0) }),
  'white balance steps': (seed, random) => ({
    light: steps(1, random.pick([-8, -5, 5, 8]), randomFrom(seed).pick([-6, 6])),
  }),
  flicker: (_, random) => ({ light: { kind: 'flicker', depth: random.between(0.03, 0.08) } }),
  clouds: (_, random) => ({
    light: { kind: 'clouds', depth: random.between(0.12, 0.3), pixelsPerTick: 60 },
  }),
  rain: (_, random) => ({ weather: { kind: 'rain', amount: random.whole(100, 600) } }),
  snow: (_, random) => ({ weather: { kind: 'snow', amount: random.whole(100, 500) } }),
  'shake 3 px': () => ({ shake: 3 }),
  'shake 8 px': () => ({ shake: 8 }),
  'overlay, noise, compression': noisyOverlay,
} satisfies Record<string, Recipe>;

function noisyOverlay(seed: number): Partial<Scene> {
  return { overlays: [clock(seed, 24, 40)], noise: 15, encoding: encoded({ crf: 36 }) };
}

/** Titles of all still classes. */
export const stillTitles = Object.keys(stillRecipes) as (keyof typeof stillRecipes)[];

/** Classes of the savings goal: noise and overlays, alone and together. */
export const savingsGoal: readonly string[] =
  'no noise|noise 5|noise 15|noise 30|night, noise 20|small clock|large clock|overlay, noise, compression'.split(
    '|',
  );

/** Creates the scene of a still class and a seed. */
export function stillScene(title: keyof typeof stillRecipes, index: number): Scene {
  const seed = createSeed(`still ${title}`, index);
  return { ...baseScene(title, seed, 40), ...stillRecipes[title](seed, randomFrom(seed)) };
}

/** Levels of an object; `null` keeps the brightness of the background. */
type Levels = Pick<Thing, 'luma' | 'blueness' | 'redness'>;
type Size = Pick<Thing, 'width' | 'height'>;
type Story = {
  /** Ticks from the first to the next story. */
  ticks: number;
  /** Share of a width by which the object moves at each tick of `places`; `null`: to any position. */
  moves: number | null;
  /** Opacity at each tick, from the first one. */
  places: readonly number[];
  /** First and last tick in which each event must be detected, from the first tick of the story. */
  events: readonly (readonly [number, number])[];
};

const span = (from: number, by: number) => [from, by] as const;
const stories = {
  comesAndLeaves: { ticks: 4, moves: 0, places: [1, 1], events: [span(0, 0), span(2, 2)] },
  /** At another position at every tick, like most moving objects after ten seconds. */
  movesFast: { ticks: 5, moves: null, places: [1, 1, 1], events: [span(1, 1), span(2, 2)] },
  /** After four ticks it has left its position in the reference. */
  movesSlowly: { ticks: 6, moves: 1 / 4, places: [1, 1, 1, 1, 1], events: [span(1, 4)] },
  /** Each step is too faint to detect alone, so the change must accumulate. */
  fadesIn: { ticks: 8, moves: 0, places: [1, 2, 3, 4, 5, 6].map((step) => step / 6), events: [span(0, 5)] },
} satisfies Record<string, Story>;

/** Classes with events: one clip shows an object of each size in turn, at positions of its seed. */
type EventRecipe = {
  scene?: Recipe;
  levels?: (random: Random) => Levels;
  story?: Story;
  shape?: Thing['shape'];
};

const eventRecipes = {
  'comes and leaves': {},
  'moves fast': { story: stories.movesFast },
  'moves slowly': { story: stories.movesSlowly },
  'fades in': { story: stories.fadesIn },
  'low contrast': {
    levels: (random) => ({ luma: random.between(16, 26) * random.pick([-1, 1]), blueness: 0, redness: 0 }),
  },
  'colour of equal brightness': {
    levels: (random) => ({
      luma: null,
      blueness: random.between(18, 45) * random.pick([-1, 1]),
      redness: random.between(18, 45) * random.pick([-1, 1]),
    }),
  },
  person: { shape: 'person' },
  'night, noise 20': {
    // Before the night dimming, which keeps a sixth: 10 to 25 levels.
    levels: (random) => ({ luma: random.between(65, 160), blueness: 0, redness: 0 }),
    scene: () => ({ light: { kind: 'night' }, noise: 20 }),
  },
  rain: { scene: () => ({ weather: { kind: 'rain', amount: 400 } }) },
  snow: { scene: () => ({ weather: { kind: 'snow', amount: 300 } }) },
  'shake 5 px': { scene: () => ({ shake: 5 }) },
  'clock overlay': { scene: (seed) => ({ overlays: [clock(seed, 20, 58)] }) },
  'strong compression': { scene: () => ({ noise: 8, encoding: encoded({ crf: 40 }) }) },
  'overlay, noise, compression': { scene: noisyOverlay },
  clouds: { scene: () => ({ light: { kind: 'clouds', depth: 0.2, pixelsPerTick: 60 } }) },
} satisfies Record<string, EventRecipe>;

/** Titles of all event classes. */
export const eventTitles = Object.keys(eventRecipes) as (keyof typeof eventRecipes)[];

/** Ticks before the first event, in which clocks and noise are learned. */
const warmUp = 5;
/** Share of its bounding box that each shape fills, for sizing it by its share of the frame. */
const filled: Record<Thing['shape'], number> = { box: 1, ellipse: Math.PI / 4, person: 0.665 };

/** Creates the scene of an event class and a seed. */
export function eventScene(title: keyof typeof eventRecipes, index: number): Scene {
  const recipe: EventRecipe = eventRecipes[title];
  const { scene, levels = ordinary, story = stories.comesAndLeaves, shape: only } = recipe;
  const seed = createSeed(`event ${title}`, index);
  const random = randomFrom(seed * 101 + 7);
  const things: Thing[] = [];
  const events: SceneEvent[] = [];
  let tick = warmUp;
  for (const share of random.shuffled(shares)) {
    const shape = only ?? random.pick(['box', 'ellipse']);
    const size = computeSize(shape, share, random);
    const places = tell(story, size, random, tick);
    things.push({ shape, ...size, ...levels(random), seed: random.whole(1, 1_000_000), places });
    events.push(...story.events.map(([from, by]) => ({ share, fromTick: tick + from, byTick: tick + by })));
    tick += story.ticks;
  }
  return { ...baseScene(title, seed, tick), ...scene?.(seed, randomFrom(seed)), things, events };
}

/** Levels of an ordinary object: clothes, cars and animals against their background. */
function ordinary(random: Random): Levels {
  return {
    luma: random.between(32, 90) * random.pick([-1, 1]),
    blueness: random.between(-12, 12),
    redness: random.between(-12, 12),
  };
}

function computeSize(shape: Thing['shape'], share: number, random: Random): Size {
  const area = (share * picture.width * picture.height) / filled[shape];
  const aspect = shape === 'person' ? 0.38 : random.between(0.6, 1.8);
  const width = Math.round(Math.sqrt(area * aspect));
  return { width, height: Math.round(area / width) };
}

function tell(
  { moves, places }: Story,
  { width, height }: Size,
  random: Random,
  start: number,
): Thing['places'] {
  const anywhere = () => ({
    // A step is moved within twice the width.
    x: Math.max(random.between(0, picture.width - (moves ? 2 : 1) * width), 0),
    y: Math.max(random.between(0, picture.height - height), 0),
  });
  const begin = anywhere();
  return places.map((opacity, at) => {
    const { x, y } = moves === null && at > 0 ? anywhere() : begin;
    const tick = start + at;
    return { fromTick: tick, toTick: tick, x: x + at * (moves ?? 0) * width, y, opacity };
  });
}
