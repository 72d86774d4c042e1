import { picture, type BackgroundKind, type Overlay, type Scene, type Thing } from './scenes.ts';
import { type Grain, type Random, randomFrom, texture } from './texture.ts';

/** Frame in planar yuv420p, video range. */
type Frame = { width: number; height: number; luma: Uint8Array; blueness: Uint8Array; redness: Uint8Array };
type Color = readonly [blueness: number, redness: number];

const black = 16;
const white = 235;
const gray: Color = [128, 128];

/**
 * Draws the frames of a scene before camera noise and encoding, in encoding order. Each is valid until the next one
 * is requested.
 */
export function* drawScene(scene: Scene): Generator<Uint8Array> {
  const background = drawBackground(scene.background);
  const random = randomFrom(scene.seed * 7919 + 17);
  const frame = blankFrame(picture.width, picture.height);
  const { framesPerTick } = scene.encoding;
  // Even, so that chroma shifts with luma.
  const shift = () => 2 * Math.round(random.between(-scene.shake, scene.shake) / 2);
  for (let at = 0; at < scene.ticks * framesPerTick; at += 1) {
    const tick = Math.floor(at / framesPerTick);
    const [right, down] = [shift(), shift()];
    copyShifted(background, frame, margin - right, margin - down);
    for (const thing of scene.things) drawThing(frame, thing, tick, right, down);
    applyLight(frame, scene, tick, random);
    drawWeather(frame, scene.weather, random);
    for (const overlay of scene.overlays) drawOverlay(frame, overlay, tick);
    yield Buffer.concat([frame.luma, frame.blueness, frame.redness]);
  }
}

function blankFrame(width: number, height: number): Frame {
  const chroma = () => new Uint8Array((width * height) / 4).fill(128);
  const luma = new Uint8Array(width * height).fill(black);
  return { width, height, luma, blueness: chroma(), redness: chroma() };
}

function copyShifted(from: Frame, to: Frame, x: number, y: number): void {
  for (const [plane, half] of [
    ['luma', 0],
    ['blueness', 1],
    ['redness', 1],
  ] as const)
    for (let row = 0; row < to.height >> half; row += 1) {
      const start = (row + (y >> half)) * (from.width >> half) + (x >> half);
      const width = to.width >> half;
      to[plane].set(from[plane].subarray(start, start + width), row * width);
    }
}

/** Blends one pixel and ignores pixels outside the frame. Chroma changes where both coordinates are even. */
function blend(frame: Frame, x: number, y: number, luma: number, share = 1, color = gray): void {
  if (x < 0 || y < 0 || x >= frame.width || y >= frame.height) return;
  mix(frame.luma, y * frame.width + x, Math.min(Math.max(luma, black), white), share);
  if ((x | y) & 1) return;
  const chromaAt = (y >> 1) * (frame.width >> 1) + (x >> 1);
  mix(frame.blueness, chromaAt, color[0], share);
  mix(frame.redness, chromaAt, color[1], share);
}

function mix(plane: Uint8Array, at: number, level: number, share: number): void {
  plane[at] = plane[at]! + (level - plane[at]!) * share;
}

/** Calls `draw` for each pixel of a rectangle, which may begin and end outside of the frame. */
function eachPixel(
  left: number,
  top: number,
  wide: number,
  high: number,
  draw: (x: number, y: number) => void,
) {
  for (let y = Math.round(top); y < Math.round(top + high); y += 1)
    for (let x = Math.round(left); x < Math.round(left + wide); x += 1) draw(x, y);
}

/** Margin around the frame for camera shake, in pixels. */
const margin = 32;
const width = picture.width + 2 * margin;
const height = picture.height + 2 * margin;

/** Levels of the ground on one side of the horizon, the strength of its grain, and its color. */
type Side = {
  luma: (x: number, y: number, horizon: number, level: number) => number;
  grain: number;
  color: Color;
};
type Ground = {
  grain: Grain;
  horizon: (random: Random) => number;
  level?: readonly [number, number];
  /** Height of hills on the horizon. */
  ridge?: number;
  above: Side;
  below: Side;
  furnish?: (random: Random, horizon: number) => Iterable<Rectangle>;
};
type Rectangle = { place: readonly [left: number, top: number, wide: number, high: number] } & Omit<
  Side,
  'luma'
> & {
    luma: number;
  };

const leaves: Side = { luma: (_x, _y, _horizon, level) => level, grain: 220, color: [108, 112] };
const grounds: Record<BackgroundKind, Ground> = {
  hills: {
    grain: { cell: 200, octaves: 7, roughness: 0.55 },
    horizon: (random) => height * random.between(0.25, 0.5),
    level: [60, 120],
    ridge: 160,
    above: { luma: (_, y, horizon) => 200 - (60 * y) / horizon, grain: 12, color: [142, 118] },
    below: { luma: (_x, _y, _horizon, level) => level, grain: 130, color: [112, 122] },
  },
  foliage: {
    grain: { cell: 90, octaves: 7, roughness: 0.75 },
    horizon: () => 0,
    level: [70, 130],
    above: leaves,
    below: leaves,
  },
  street: {
    grain: { cell: 60, octaves: 6, roughness: 0.65 },
    horizon: (random) => Math.round(height * random.between(0.4, 0.6)),
    above: { luma: (_, y) => 190 - y / 8, grain: 14, color: [138, 122] },
    below: { luma: (_, y, horizon) => 70 + (y - horizon) / 8, grain: 60, color: gray },
    furnish: drawHouses,
  },
  room: {
    grain: { cell: 150, octaves: 6, roughness: 0.5 },
    horizon: (random) => height * random.between(0.6, 0.8),
    above: { luma: (x, y) => 150 + x / 30 - y / 16, grain: 30, color: [122, 132] },
    below: { luma: (_, y, floor) => 90 - (y - floor) / 10, grain: 70, color: [116, 140] },
    *furnish(random) {
      for (let piece = 0; piece < 9; piece += 1) {
        const luma = random.between(35, 210);
        const color = [random.between(104, 150), random.between(108, 152)] as const;
        const [left, top] = [random.whole(0, width), random.whole(100, height - 80)];
        yield { place: [left, top, random.whole(50, 300), random.whole(40, 220)], luma, grain: 50, color };
      }
    },
  },
};

/** Draws a textured still: a drawn scene with fractal noise. */
function drawBackground({ kind, seed }: Scene['background']): Frame {
  const ground = grounds[kind];
  const random = randomFrom(seed);
  const frame = blankFrame(width, height);
  const grain = texture(width, height, seed, ground.grain);
  const ridge = texture(width, 1, seed + 1, { cell: 300, octaves: 5, roughness: 0.5 });
  const horizon = ground.horizon(random);
  const level = ground.level ? random.between(...ground.level) : 0;
  eachPixel(0, 0, width, height, (x, y) => {
    const side = y < horizon + ridge[x]! * (ground.ridge ?? 0) ? ground.above : ground.below;
    const luma = side.luma(x, y, horizon, level) + grain[y * width + x]! * side.grain;
    blend(frame, x, y, luma, 1, side.color);
  });
  for (const { place, luma, grain: strength, color } of ground.furnish?.(random, horizon) ?? [])
    eachPixel(...place, (x, y) => blend(frame, x, y, luma + grain[y * width + x]! * strength, 1, color));
  return frame;
}

function* drawHouses(random: Random, horizon: number): Generator<Rectangle> {
  for (let x = 0; x < width;) {
    const wide = random.whole(80, 240);
    const top = horizon - random.whole(100, 320);
    const luma = random.between(60, 180);
    const color = [random.between(108, 132), random.between(122, 148)] as const;
    yield { place: [x, top, wide, horizon - top], luma, grain: 40, color };
    for (let windowY = top + 16; windowY < horizon - 40; windowY += 52)
      for (let windowX = x + 14; windowX < x + wide - 34; windowX += 44)
        yield {
          place: [windowX, windowY, 24, 32],
          luma: random.between(30, 200),
          grain: 0,
          color: [134, 124],
        };
    x += wide + random.whole(0, 40);
  }
  for (let mark = 0; mark < 12; mark += 1)
    yield {
      place: [mark * 120, Math.round((horizon + height) / 2), 60, 10],
      luma: 190,
      grain: 0,
      color: gray,
    };
}

/** Draws an object at a tick, shaded and with its own grain. */
function drawThing(frame: Frame, thing: Thing, tick: number, shiftX: number, shiftY: number): void {
  for (const { fromTick, toTick, x: placeX, y: placeY, opacity } of thing.places) {
    if (tick < fromTick || tick > toTick) continue;
    const left = Math.round(placeX) + shiftX;
    const top = Math.round(placeY) + shiftY;
    const mean = meanUnder(frame, thing, left, top);
    const rise = thing.luma ?? 0;
    const cell = Math.max(thing.width / 3, 8);
    const grain = texture(thing.width, thing.height, thing.seed, { cell, octaves: 4, roughness: 0.6 });
    eachPixel(left, top, thing.width, thing.height, (x, y) => {
      if (x < 0 || y < 0 || x >= frame.width || y >= frame.height || !inside(thing, x - left, y - top))
        return;
      if (thing.luma !== null) {
        const level = mean + rise + grain[(y - top) * thing.width + x - left]! * (8 + Math.abs(rise) / 4);
        const at = y * frame.width + x;
        const now = frame.luma[at]!;
        frame.luma[at] = Math.min(Math.max(now + (level - now) * opacity, black), white);
      }
      if ((x | y) & 1) return;
      const chromaAt = (y >> 1) * (frame.width >> 1) + (x >> 1);
      frame.blueness[chromaAt] = frame.blueness[chromaAt]! + thing.blueness * opacity;
      frame.redness[chromaAt] = frame.redness[chromaAt]! + thing.redness * opacity;
    });
  }
}

/** Returns the mean brightness of the area that the object will cover. */
function meanUnder(frame: Frame, thing: Thing, left: number, top: number): number {
  let total = 0;
  let count = 0;
  for (let y = Math.max(0, top); y < Math.min(top + thing.height, frame.height); y += 4) {
    for (let x = Math.max(0, left); x < Math.min(left + thing.width, frame.width); x += 4) {
      total += frame.luma[y * frame.width + x]!;
      count += 1;
    }
  }
  return count === 0 ? 128 : total / count;
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

/** Applies light and exposure to a frame at a tick. */
function applyLight(frame: Frame, scene: Scene, tick: number, random: Random): void {
  const { light } = scene;
  switch (light.kind) {
    case 'day':
      return;
    case 'night':
      // Levels of 16 to 50, almost without color: a dark street.
      expose(frame, () => 0.16);
      recolor(frame, (level) => 128 + (level - 128) * 0.4);
      return;
    case 'drift':
      return expose(frame, () => light.from + ((light.to - light.from) * tick) / scene.ticks);
    case 'steps':
      if (Math.floor(tick / light.everyTicks) % 2 === 0) return;
      expose(frame, () => light.gain);
      return recolor(frame, (level, plane) => level + light[plane]);
    case 'flicker': {
      const phase = random.between(0, 2 * Math.PI);
      const wave = (y: number) => Math.sin(phase + (y / frame.height) * 4 * Math.PI);
      return expose(frame, (_, y) => 1 + light.depth * wave(y));
    }
    case 'clouds':
      return shade(frame, light.depth, tick * light.pixelsPerTick, scene.seed);
  }
}

function expose(frame: Frame, gainAt: (x: number, y: number) => number): void {
  eachPixel(0, 0, frame.width, frame.height, (x, y) => {
    const at = y * frame.width + x;
    frame.luma[at] = Math.min(Math.max(black + (frame.luma[at]! - black) * gainAt(x, y), black), white);
  });
}

function recolor(frame: Frame, change: (level: number, plane: 'blueness' | 'redness') => number): void {
  for (const name of ['blueness', 'redness'] as const) {
    const plane = frame[name];
    for (let at = 0; at < plane.length; at += 1) plane[at] = change(plane[at]!, name);
  }
}

const coarse = 8;
const skyWidth = 1024;

/** Draws soft shadows, hundreds of pixels wide, that move to the right. */
function shade(frame: Frame, depth: number, wandered: number, seed: number): void {
  const rows = frame.height / coarse;
  const clouds = texture(skyWidth, rows, seed, { cell: 60, octaves: 2, roughness: 0.3 });
  const begin = skyWidth - frame.width / coarse - 2 - ((wandered / coarse) % (skyWidth / 2));
  expose(frame, (x, y) => {
    const place = begin + x / coarse;
    const left = Math.floor(place);
    const at = Math.floor(y / coarse) * skyWidth + left;
    const [a, b] = [clouds[at]!, clouds[at + 1]!];
    return 1 - depth * (0.5 + a + (b - a) * (place - left));
  });
}

/** Draws raindrops or snowflakes at new positions in every frame: between two checks each of them has fallen. */
function drawWeather(frame: Frame, { kind, amount }: Scene['weather'], random: Random): void {
  for (let drop = 0; drop < amount; drop += 1) {
    const x = random.whole(0, frame.width - 1);
    const y = random.whole(0, frame.height - 1);
    if (kind === 'rain') {
      const length = random.whole(20, 80);
      const share = random.between(0.15, 0.45);
      for (let along = 0; along < length; along += 1)
        for (const side of [0, 1]) blend(frame, x + (along >> 3) + side, y + along, 215, share);
    } else if (kind === 'snow') {
      // Mostly distant, small flakes and few near, large ones.
      const radius = 1.5 + 7 * random.between(0, 1) ** 3;
      const share = random.between(0.5, 0.9);
      const reach = Math.ceil(radius);
      eachPixel(-reach, -reach, 2 * reach + 1, 2 * reach + 1, (across, down) => {
        if (down * down + across * across <= radius * radius) blend(frame, x + across, y + down, 230, share);
      });
    }
  }
}

/** Glyphs of five columns and seven rows, one base-32 digit per row, from 0 to 9. */
const digits = 'ehjlphe 4c4444e eh1248v v2421he 26aiv22 vgu11he 68guhhe v124888 ehhehhe ehhf12c'.split(' ');
const glyphs = new Map([...digits.entries()].map(([digit, rows]) => [String(digit), rows]))
  .set(':', '0440440')
  .set('-', '000v000');

/** Draws an overlay at a tick: date and time, or a ticker, which is a band over the whole width with moving text. */
function drawOverlay(frame: Frame, { kind, font, height: high, x, y, box }: Overlay, tick: number): void {
  const unit = high / 7;
  const advance = Math.round(unit * 6);
  const text = kind === 'clock' ? clockText(tick) : tickerText(tick, Math.ceil(frame.width / advance));
  const dim = (...place: [number, number, number, number]) =>
    eachPixel(...place, (left, top) => blend(frame, left, top, 24, 0.75));
  if (box) dim(x - 6, y - 6, text.length * advance + 8, high + 12);
  if (kind === 'ticker') dim(0, y - 8, frame.width, high + 16);
  const dot = font === 'bold' ? unit * 1.5 : unit;
  for (const [at, letter] of Array.from(text).entries())
    for (const [row, digit] of Array.from(glyphs.get(letter) ?? '').entries())
      for (let column = 0; column < 5; column += 1)
        if (Number.parseInt(digit, 32) & (16 >> column))
          eachPixel(x + at * advance + column * unit, y + row * unit, dot, dot, (left, top) =>
            blend(frame, left, top, 225, 0.9),
          );
}

/** Returns date and time. Ticks are about 10 s apart with some jitter, so that every digit of the seconds changes. */
function clockText(tick: number): string {
  const seconds = 8 * 3600 + 57 * 60 + 31 + tick * 10 + ((tick * 7) % 4);
  const part = (value: number): string => String(value % 60).padStart(2, '0');
  return `2026-03-01 ${part(Math.floor(seconds / 3600))}:${part(Math.floor(seconds / 60))}:${part(seconds)}`;
}

function tickerText(tick: number, length: number): string {
  const letterAt = (at: number) => Math.imul(at + tick * 17, 2654435761) >>> 28;
  return Array.from({ length }, (_, at) => String(letterAt(at) % 11).replace('10', ' ')).join('');
}
