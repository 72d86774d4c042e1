import { expose, type Frame, type Levels, paint, picture, type Place, Draws, texture } from './frame.ts';

/** Change of a frame with its objects: light, weather or an overlay. */
export type Effect = (frame: Frame, tick: number, random: Draws) => void;

/** Dims to levels of 16 to 50, almost without color: a dark street. */
export const night: Effect = (frame) => {
  expose(frame, () => 0.16);
  for (const plane of frame.planes.slice(1))
    plane.forEach((level, index) => (plane[index] = 77 + level * 0.4));
};

/** Changes the exposure steadily, over 40 ticks. */
export function drift(from: number, to: number): Effect {
  return (frame, tick) => expose(frame, () => from + ((to - from) * tick) / 40);
}

/** Changes exposure and white balance every seven ticks, and back. */
export function steps(gain: number, blueness = 0, redness = 0): Effect {
  return (frame, tick) => {
    if (Math.floor(tick / 7) % 2 === 0) return;
    expose(frame, () => gain);
    const [, ...colors] = frame.planes;
    colors.forEach((plane, color) => {
      for (let index = 0; index < plane.length; index += 1) plane[index]! += color === 0 ? blueness : redness;
    });
  };
}

/** Draws moving bands, like lamps on mains with a rolling shutter. */
export function flicker(depth: number): Effect {
  return (frame, _, random) => {
    const phase = random.between(0, 2 * Math.PI);
    expose(frame, (__, y) => 1 + depth * Math.sin(phase + (y / frame.height) * 4 * Math.PI));
  };
}

/** Draws soft shadows, hundreds of pixels wide, that move to the right. */
export function clouds(seed: number, depth: number): Effect {
  const [coarse, skyWidth, pixelsPerTick] = [8, 1024, 60];
  const sky = texture(skyWidth, picture.height / coarse, seed, { cell: 60, octaves: 2, roughness: 0.3 });
  return (frame, tick) => {
    const moved = ((tick * pixelsPerTick) / coarse) % (skyWidth / 2);
    const begin = skyWidth - frame.width / coarse - 2 - moved;
    expose(frame, (x, y) => {
      const left = Math.floor(begin + x / coarse);
      const [a, b] = sky.subarray(Math.floor(y / coarse) * skyWidth + left);
      return 1 - depth * (0.5 + a! + (b! - a!) * (begin + x / coarse - left));
    });
  };
}

/** Draws raindrops at new positions in every frame: between two checks each of them has fallen. */
export function rain(amount: number): Effect {
  return (frame, _, random) => {
    for (let drop = 0; drop < amount; drop += 1) {
      const [left, top] = [random.integer(0, frame.width - 1), random.integer(0, frame.height - 1)];
      const [length, share] = [random.integer(20, 80), random.between(0.15, 0.45)];
      for (let along = 0; along < length; along += 1)
        paint(frame, [left + (along >> 3), top + along, 2, 1], () => [215, 128, 128], share);
    }
  };
}

/** Draws snowflakes at new positions in every frame, mostly distant, small ones and few near, large ones. */
export function snow(amount: number): Effect {
  return (frame, _, random) => {
    for (let flake = 0; flake < amount; flake += 1) {
      const [left, top] = [random.integer(0, frame.width - 1), random.integer(0, frame.height - 1)];
      const [radius, share] = [1.5 + 7 * random.next() ** 3, random.between(0.5, 0.9)];
      const reach = Math.ceil(radius);
      const white: Levels = [230, 128, 128];
      const around: Place = [left - reach, top - reach, 2 * reach + 1, 2 * reach + 1];
      paint(frame, around, (x, y) => (Math.hypot(x - left, y - top) <= radius ? white : null), share);
    }
  };
}

/** Draws date and time in one of the corners. The sizes are those of a digit. */
export function clock(seed: number, smallest: number, largest: number): Effect {
  const random = new Draws(seed + 5);
  const height = random.integer(smallest, Math.min(largest, 58));
  const wide = Math.round((height / 7) * 6) * 19;
  const bold = random.pick([false, true, false]);
  const left = random.pick([16, Math.max(picture.width - wide - 16, 8)]);
  const top = random.pick([12, picture.height - height - 14]);
  const box = random.pick([true, false]);
  return (frame, tick) => {
    if (box) dim(frame, [left - 6, top - 6, wide + 8, height + 12]);
    write(frame, clockText(tick), { left, top, height, bold });
  };
}

/** Draws a band over the whole width with moving text. */
export function ticker(seed: number): Effect {
  const random = new Draws(seed + 6);
  const height = random.integer(28, 48);
  const top = picture.height - height - random.integer(16, 30);
  const length = Math.ceil(picture.width / Math.round((height / 7) * 6));
  return (frame, tick) => {
    dim(frame, [0, top - 8, picture.width, height + 16]);
    const letterAt = (index: number) => Math.imul(index + tick * 17, 2654435761) >>> 28;
    const text = Array.from({ length }, (_, index) => String(letterAt(index) % 11).replace('10', ' '));
    write(frame, text.join(''), { left: 0, top, height, bold: true });
  };
}

function dim(frame: Frame, place: Place): void {
  paint(frame, place, () => [24, 128, 128], 0.75);
}

/** Glyphs of five columns and seven rows, one base-32 digit per row, from 0 to 9. */
const digits = 'ehjlphe 4c4444e eh1248v v2421he 26aiv22 vgu11he 68guhhe v124888 ehhehhe ehhf12c'.split(' ');
const glyphs = new Map([...digits.entries()].map(([digit, rows]) => [String(digit), rows]))
  .set(':', '0440440')
  .set('-', '000v000');

type Font = { left: number; top: number; height: number; bold: boolean };

function write(frame: Frame, text: string, { left, top, height, bold }: Font): void {
  const unit = height / 7;
  const dot = bold ? unit * 1.5 : unit;
  for (const [index, letter] of Array.from(text).entries())
    for (const [row, digit] of Array.from(glyphs.get(letter) ?? '').entries())
      for (let column = 0; column < 5; column += 1) {
        if (!(Number.parseInt(digit, 32) & (16 >> column))) continue;
        const begin = left + index * Math.round(unit * 6) + column * unit;
        paint(frame, [begin, top + row * unit, dot, dot], () => [225, 128, 128], 0.9);
      }
}

/** Returns date and time. Ticks are about 10 s apart with some jitter, so that every digit of the seconds changes. */
function clockText(tick: number): string {
  const seconds = 57 * 60 + 31 + tick * 10 + ((tick * 7) % 4);
  return new Date(Date.UTC(2026, 2, 1, 8, 0, seconds)).toISOString().slice(0, 19).replace('T', ' ');
}
