import {
  blankFrame,
  type Frame,
  type Levels,
  paint,
  picture,
  type Place,
  Draws,
  type Grain,
  texture,
} from './frame.ts';
import type { BackgroundKind, Scene, Thing } from './scenes.ts';

/**
 * Draws the frames of a scene before camera noise and encoding, in encoding order. Each is valid until the next one
 * is requested.
 */
export function* drawScene(scene: Scene): Generator<Uint8Array> {
  const background = drawBackground(scene.background);
  const random = new Draws(scene.seed * 7919 + 17);
  const frame = blankFrame(picture.width, picture.height);
  const { framesPerTick } = scene.encoding;
  const shift = () => Math.round(random.between(-scene.shake, scene.shake));
  for (let index = 0; index < scene.ticks * framesPerTick; index += 1) {
    const tick = Math.floor(index / framesPerTick);
    const [right, down] = [shift(), shift()];
    copy(background, frame, margin - right, margin - down);
    for (const thing of scene.things) drawThing(frame, thing, tick, right, down);
    for (const effect of scene.effects) effect(frame, tick, random);
    yield Buffer.concat(frame.planes);
  }
}

function copy(from: Frame, to: Frame, x: number, y: number): void {
  for (const [index, plane] of to.planes.entries())
    for (let row = 0; row < to.height; row += 1) {
      const start = (row + y) * from.width + x;
      plane.set(from.planes[index]!.subarray(start, start + to.width), row * to.width);
    }
}

/** Margin around the frame for camera shake, in pixels. */
const margin = 32;
const width = picture.width + 2 * margin;
const height = picture.height + 2 * margin;

/** Part of a background: the range of its brightness, which changes from row to row, and the strength of its grain. */
type Surface = { luma: readonly [number, number]; perRow?: number; grain: number; color: Color };
type Color = readonly [blueness: number, redness: number];
type Ground = {
  grain: Grain;
  /** Range of the horizon, as shares of the height. */
  horizon: readonly [number, number];
  /** Height of hills on the horizon. */
  ridge?: number;
  above: Surface;
  below: Surface;
  houses?: number;
  furniture?: number;
};

const leaves: Surface = { luma: [70, 130], grain: 220, color: [108, 112] };
const grounds: Record<BackgroundKind, Ground> = {
  hills: {
    grain: { cell: 200, octaves: 7, roughness: 0.55 },
    horizon: [0.25, 0.5],
    ridge: 160,
    above: { luma: [200, 200], perRow: -0.2, grain: 12, color: [142, 118] },
    below: { luma: [60, 120], grain: 130, color: [112, 122] },
  },
  foliage: {
    grain: { cell: 90, octaves: 7, roughness: 0.75 },
    horizon: [0, 0],
    above: leaves,
    below: leaves,
  },
  street: {
    grain: { cell: 60, octaves: 6, roughness: 0.65 },
    horizon: [0.4, 0.6],
    above: { luma: [190, 190], perRow: -0.12, grain: 14, color: [138, 122] },
    below: { luma: [20, 20], perRow: 0.12, grain: 60, color: [128, 128] },
    houses: 10,
  },
  room: {
    grain: { cell: 150, octaves: 6, roughness: 0.5 },
    horizon: [0.6, 0.8],
    above: { luma: [150, 190], perRow: -0.06, grain: 30, color: [122, 132] },
    below: { luma: [150, 150], perRow: -0.1, grain: 70, color: [116, 140] },
    furniture: 9,
  },
};

/** Draws a textured still: a drawn scene with fractal noise. */
function drawBackground({ kind, seed }: Scene['background']): Frame {
  const ground = grounds[kind];
  const random = new Draws(seed);
  const frame = blankFrame(width, height);
  const noise = texture(width, height, seed, ground.grain);
  const ridge = texture(width, 1, seed + 1, { cell: 300, octaves: 5, roughness: 0.5 });
  const horizon = Math.round(height * random.between(...ground.horizon));
  const fill = (place: Place, { luma, perRow = 0, grain, color }: Surface, isIn?: typeof isBelow): void => {
    const level = random.between(...luma);
    const levelAt = (x: number, y: number) => level + y * perRow + noise[y * width + x]! * grain;
    paint(frame, place, (x, y) => (isIn?.(x, y) === false ? null : [levelAt(x, y), ...color]));
  };
  const isBelow = (x: number, y: number) => y >= horizon + ridge[x]! * (ground.ridge ?? 0);
  fill([0, 0, width, height], ground.above);
  fill([0, 0, width, height], ground.below, isBelow);
  for (let house = 0; house < (ground.houses ?? 0); house += 1) {
    const [left, top] = [random.integer(0, width), horizon - random.integer(100, 320)];
    const place: Place = [left, top, random.integer(80, 240), horizon - top];
    const color: Color = [random.between(108, 132), random.between(122, 148)];
    fill(place, { luma: [60, 180], grain: 40, color });
    const isWindow = (x: number, y: number) => (x - left) % 44 > 20 && (y - top) % 52 > 20;
    fill(place, { luma: [30, 200], grain: 0, color: [134, 124] }, isWindow);
  }
  for (let piece = 0; piece < (ground.furniture ?? 0); piece += 1) {
    const [left, top] = [random.integer(0, width), random.integer(100, height - 80)];
    const color: Color = [random.between(104, 150), random.between(108, 152)];
    const place: Place = [left, top, random.integer(50, 300), random.integer(40, 220)];
    fill(place, { luma: [35, 210], grain: 50, color });
  }
  return frame;
}

/** Draws an object at a tick, shaded and with its own grain. */
function drawThing(frame: Frame, thing: Thing, tick: number, right: number, down: number): void {
  const { width: wide, height: high, luma: rise } = thing;
  for (const { x: placeX, y: placeY, opacity } of thing.places.filter((place) => place.tick === tick)) {
    const [left, top] = [Math.round(placeX) + right, Math.round(placeY) + down];
    const mean = rise === null ? 0 : meanUnder(frame, [left, top, wide, high]);
    const cell = Math.max(wide / 3, 8);
    const grain = texture(wide, high, thing.seed, { cell, octaves: 4, roughness: 0.6 });
    const levelsAt = (x: number, y: number): Levels => {
      const [luma, blueness, redness] = frame.planes.map((plane) => plane[y * frame.width + x]!);
      const shade = grain[(y - top) * wide + x - left]! * (8 + Math.abs(rise ?? 0) / 4);
      const level = rise === null ? luma! : mean + rise + shade;
      return [level, blueness! + thing.blueness, redness! + thing.redness];
    };
    const place: Place = [left, top, wide, high];
    paint(frame, place, (x, y) => (inside(thing, x - left, y - top) ? levelsAt(x, y) : null), opacity);
  }
}

/** Returns the mean brightness of the area that the object will cover. */
function meanUnder({ planes: [luma], width: perRow }: Frame, [left, top, wide, high]: Place): number {
  let [total, count] = [0, 0];
  for (let y = Math.max(0, top); y < Math.min(top + high, picture.height); y += 4)
    for (let x = Math.max(0, left); x < Math.min(left + wide, perRow); x += 4) {
      total += luma[y * perRow + x]!;
      count += 1;
    }
  return total / Math.max(count, 1);
}

function inside({ shape, width: wide, height: high }: Thing, x: number, y: number): boolean {
  if (shape === 'box') return true;
  const across = ((x + 0.5) / wide) * 2 - 1;
  const down = (y + 0.5) / high;
  if (shape === 'ellipse') return across ** 2 + (down * 2 - 1) ** 2 <= 1;
  if (down < 0.18) return (across / 0.45) ** 2 + ((down - 0.09) / 0.09) ** 2 <= 1;
  if (down < 0.6) return Math.abs(across) <= 0.95;
  return Math.abs(across) <= 0.7 && Math.abs(across) >= 0.08;
}
