import { clock, clouds, drift, type Effect, flicker, night, rain, snow, steps, ticker } from './effects.ts';
import { picture, createSeed, Draws } from './frame.ts';

/** Labeled clip, determined by its title and seed. */
export type Scene = {
  /** Row of the table. */
  title: string;
  seed: number;
  ticks: number;
  background: { kind: BackgroundKind; seed: number };
  /**
   * Strength of ffmpeg's temporal noise filter at 720p: 4 for a good camera by day, 20 or more for a bad one at night.
   */
  noise: number;
  /** Maximum displacement in each direction, in pixels at 720p. */
  shake: number;
  /** Changes of each frame with its things, in this order. */
  effects: Effect[];
  encoding: Encoding;
  things: Thing[];
  /** Empty in still scenes. */
  events: SceneEvent[];
};

export type BackgroundKind = (typeof backgrounds)[number];

/**
 * Options of x264, frames per tick, and of a GOP. Without a GOP in each tick, a thumbnail may be of any frame of its
 * tick.
 */
type Encoding = { quality: string; framesPerTick: number; group: number };

/** Object with its position per tick. */
export type Thing = {
  shape: keyof typeof filled;
  width: number;
  height: number;
  /** Levels above the mean of the background; `null` keeps the brightness and changes only the color. */
  luma: number | null;
  blueness: number;
  redness: number;
  seed: number;
  places: { tick: number; x: number; y: number; opacity: number }[];
};

/** Event that must be detected in one of the ticks from `fromTick` to `byTick`, inclusive. */
type SceneEvent = { share: number; fromTick: number; byTick: number };

/** Sizes of objects, as shares of the frame. */
const shares = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1] as const;

const backgrounds = ['hills', 'street', 'room', 'foliage'] as const;

/** Creates the scene of a day camera on one of the backgrounds, with little noise and a good bit rate. */
function baseScene(title: string, seed: number, ticks: number): Scene {
  const random = new Draws(seed);
  const background = { kind: random.pick(backgrounds), seed: random.integer(1, 1_000_000) };
  const encoding = encoded('-crf 26');
  return {
    title,
    seed,
    ticks,
    background,
    noise: 6,
    shake: 0,
    effects: [],
    encoding,
    things: [],
    events: [],
  };
}

function encoded(quality: string, framesPerTick = 1, group = framesPerTick): Encoding {
  return { quality, framesPerTick, group };
}

const limited = (kilobits: number) => `-b:v ${kilobits}k -maxrate ${kilobits}k -bufsize ${kilobits}k`;

/** Changes the base scene of a seed. */
type Recipe = (seed: number, random: Draws) => Partial<Scene>;

const noisyOverlay: Recipe = (seed) => ({
  effects: [clock(seed, 24, 40)],
  noise: 15,
  encoding: encoded('-crf 36'),
});

/** Classes without events: every check after the first is unnecessary. */
const stillRecipes = {
  'no noise': () => ({ noise: 0 }),
  'noise 5': () => ({ noise: 5 }),
  'noise 15': () => ({ noise: 15 }),
  'noise 30': () => ({ noise: 30 }),
  'night, noise 20': () => ({ effects: [night], noise: 20 }),
  'strong compression': () => ({ noise: 8, encoding: encoded('-crf 42') }),
  'starved bit rate': () => ({ noise: 12, encoding: encoded(limited(200), 4) }),
  'noise 60, starved bit rate': () => ({ noise: 60, encoding: encoded(limited(1200), 2) }),
  'key-frame pulsing': () => ({ noise: 8, encoding: encoded('-crf 36', 3, 8) }),
  'small clock': (seed) => ({ effects: [clock(seed, 20, 34)] }),
  'large clock': (seed) => ({ effects: [clock(seed, 50, 88)] }),
  'news ticker': (seed) => ({ effects: [ticker(seed)] }),
  'slow light': (_, random) => ({ effects: [random.pick([drift(0.8, 1.2), drift(1.15, 0.7)])] }),
  'exposure steps': (_, random) => ({ effects: [steps(random.pick([0.75, 1.25, 1.4]))] }),
  'white balance steps': (seed, random) => ({
    effects: [steps(1, random.pick([-8, -5, 5, 8]), new Draws(seed).pick([-6, 6]))],
  }),
  flicker: (_, random) => ({ effects: [flicker(random.between(0.03, 0.08))] }),
  clouds: (seed, random) => ({ effects: [clouds(seed, random.between(0.12, 0.3))] }),
  rain: (_, random) => ({ effects: [rain(random.integer(100, 600))] }),
  snow: (_, random) => ({ effects: [snow(random.integer(100, 500))] }),
  'shake 3 px': () => ({ shake: 3 }),
  'shake 8 px': () => ({ shake: 8 }),
  'overlay, noise, compression': noisyOverlay,
} satisfies Record<string, Recipe>;

/** Titles of all still classes. */
export const stillTitles = Object.keys(stillRecipes) as (keyof typeof stillRecipes)[];

/** Classes of the savings goal: noise and overlays, alone and together. */
export const savingsGoal = stillTitles.filter((title) =>
  /^no noise|^noise \d+$|night|clock|overlay/.test(title),
);

/** Creates the scene of a still class and a seed. */
export function stillScene(title: keyof typeof stillRecipes, index: number): Scene {
  const seed = createSeed(`still ${title}`, index);
  return { ...baseScene(title, seed, 40), ...stillRecipes[title](seed, new Draws(seed)) };
}

type Levels = Pick<Thing, 'luma' | 'blueness' | 'redness'>;
type Size = Pick<Thing, 'width' | 'height'>;
type Story = {
  /** Ticks from the first to the next story. */
  ticks: number;
  /** Share of a width by which the object moves at each tick of `places`; `null`: to any position. */
  moves: number | null;
  /** Opacity at each tick, from the first one. */
  places: readonly number[];
  /**
   * First tick in which each event must be detected, from the first one of the story, and how many ticks later it may
   * be.
   */
  events: readonly number[];
  within: number;
};

const comesAndLeaves: Story = { ticks: 4, moves: 0, places: [1, 1], events: [0, 2], within: 0 };
/** At another position at every tick, like most moving objects after ten seconds. */
const movesFast: Story = { ticks: 5, moves: null, places: [1, 1, 1], events: [1, 2], within: 0 };
/** After four ticks it has left its position in the reference. */
const movesSlowly: Story = { ticks: 6, moves: 1 / 4, places: [1, 1, 1, 1, 1], events: [1], within: 3 };
/** Each step is too faint to detect alone, so the change must accumulate. */
const sixths = [1, 2, 3, 4, 5, 6].map((step) => step / 6);
const fadesIn: Story = { ticks: 8, moves: 0, places: sixths, events: [0], within: 5 };

/** Classes with events: one clip shows an object of each size in turn, at positions of its seed. */
type EventRecipe = {
  scene?: Recipe;
  levels?: (random: Draws) => Levels;
  story?: Story;
  shape?: Thing['shape'];
};

const eventRecipes = {
  'comes and leaves': {},
  'moves fast': { story: movesFast },
  'moves slowly': { story: movesSlowly },
  'fades in': { story: fadesIn },
  'low contrast': { levels: (random) => brightness(random.between(16, 26) * random.pick([-1, 1])) },
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
    levels: (random) => brightness(random.between(65, 160)),
    scene: () => ({ effects: [night], noise: 20 }),
  },
  rain: { scene: () => ({ effects: [rain(400)] }) },
  snow: { scene: () => ({ effects: [snow(300)] }) },
  'shake 5 px': { scene: () => ({ shake: 5 }) },
  'clock overlay': { scene: (seed) => ({ effects: [clock(seed, 20, 58)] }) },
  'strong compression': { scene: () => ({ noise: 8, encoding: encoded('-crf 40') }) },
  'overlay, noise, compression': { scene: noisyOverlay },
  clouds: { scene: (seed) => ({ effects: [clouds(seed, 0.2)] }) },
} satisfies Record<string, EventRecipe>;

/** Titles of all event classes. */
export const eventTitles = Object.keys(eventRecipes) as (keyof typeof eventRecipes)[];

/** Ticks before the first event, in which clocks and noise are learned. */
const warmUp = 5;
/** Share of its bounding box that each shape fills, for sizing it by its share of the frame. */
const filled = { box: 1, ellipse: Math.PI / 4, person: 0.665 };

/** Creates the scene of an event class and a seed. */
export function eventScene(title: keyof typeof eventRecipes, index: number): Scene {
  const recipe: EventRecipe = eventRecipes[title];
  const { scene, levels = ordinary, story = comesAndLeaves, shape: only } = recipe;
  const seed = createSeed(`event ${title}`, index);
  const random = new Draws(seed * 101 + 7);
  const things: Thing[] = [];
  const events: SceneEvent[] = [];
  let tick = warmUp;
  for (const share of random.shuffled(shares)) {
    const shape = only ?? random.pick(['box', 'ellipse']);
    const size = computeSize(shape, share, random);
    const places = tell(story, size, random, tick);
    things.push({ shape, ...size, ...levels(random), seed: random.integer(1, 1_000_000), places });
    for (const fromTick of story.events.map((from) => tick + from))
      events.push({ share, fromTick, byTick: fromTick + story.within });
    tick += story.ticks;
  }
  return { ...baseScene(title, seed, tick), ...scene?.(seed, new Draws(seed)), things, events };
}

/** Returns the levels of an ordinary object: clothes, cars and animals against their background. */
function ordinary(random: Draws): Levels {
  return {
    luma: random.between(32, 90) * random.pick([-1, 1]),
    blueness: random.between(-12, 12),
    redness: random.between(-12, 12),
  };
}

function brightness(luma: number): Levels {
  return { luma, blueness: 0, redness: 0 };
}

function computeSize(shape: Thing['shape'], share: number, random: Draws): Size {
  const area = (share * picture.width * picture.height) / filled[shape];
  const aspect = shape === 'person' ? 0.38 : random.between(0.6, 1.8);
  const width = Math.round(Math.sqrt(area * aspect));
  return { width, height: Math.round(area / width) };
}

function tell({ moves, places }: Story, size: Size, random: Draws, start: number): Thing['places'] {
  const anywhere = () => ({
    // A step is moved within twice the width.
    x: Math.max(random.between(0, picture.width - (moves ? 2 : 1) * size.width), 0),
    y: Math.max(random.between(0, picture.height - size.height), 0),
  });
  const begin = anywhere();
  return places.map((opacity, index) => {
    const { x, y } = moves === null && index > 0 ? anywhere() : begin;
    return { tick: start + index, x: x + index * (moves ?? 0) * size.width, y, opacity };
  });
}
