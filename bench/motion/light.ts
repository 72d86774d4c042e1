import type { Frame } from './frame.ts';
import type { Random } from './random.ts';
import type { Scene } from './scene.ts';
import { texture } from './texture.ts';

const black = 16;

/** Applies light and exposure to a frame at a tick. */
export function applyLight(frame: Frame, scene: Scene, tick: number, random: Random): void {
  const { light } = scene;
  switch (light.kind) {
    case 'day':
      return;
    case 'night':
      return dim(frame);
    case 'drift':
      return expose(frame, light.from + ((light.to - light.from) * tick) / scene.ticks);
    case 'steps':
      if (Math.floor(tick / light.everyTicks) % 2 === 0) return;
      expose(frame, light.gain);
      shift(frame.blueness, light.blueness);
      return shift(frame.redness, light.redness);
    case 'flicker':
      return flicker(frame, light.depth, random);
    case 'clouds':
      return shade(frame, light.depth, tick * light.pixelsPerTick, scene.seed);
  }
}

/** Dims to a dark street: levels of 16 to 50, almost without color. */
function dim(frame: Frame): void {
  expose(frame, 0.16);
  for (const plane of [frame.blueness, frame.redness]) {
    for (let at = 0; at < plane.length; at += 1) plane[at] = 128 + (plane[at]! - 128) * 0.4;
  }
}

function expose(frame: Frame, gain: number): void {
  const levels = Uint8Array.from({ length: 256 }, (_, level) =>
    Math.min(Math.max(black + (level - black) * gain, black), 235),
  );
  for (let at = 0; at < frame.luma.length; at += 1) frame.luma[at] = levels[frame.luma[at]!]!;
}

function shift(plane: Uint8Array, levels: number): void {
  for (let at = 0; at < plane.length; at += 1) plane[at] = plane[at]! + levels;
}

function flicker(frame: Frame, depth: number, random: Random): void {
  const phase = random.between(0, 2 * Math.PI);
  for (let y = 0; y < frame.height; y += 1) {
    const gain = 1 + depth * Math.sin(phase + (y / frame.height) * 4 * Math.PI);
    for (let at = y * frame.width; at < (y + 1) * frame.width; at += 1) {
      frame.luma[at] = Math.min(black + (frame.luma[at]! - black) * gain, 235);
    }
  }
}

const coarse = 8;
const sky = new Map<number, Float32Array>();
const skyWidth = 1024;

/** Draws soft shadows, hundreds of pixels wide, that move to the right. */
function shade(frame: Frame, depth: number, wandered: number, seed: number): void {
  const rows = frame.height / coarse;
  const clouds = sky.get(seed) ?? texture(skyWidth, rows, seed, { cell: 60, octaves: 2, roughness: 0.3 });
  sky.clear();
  sky.set(seed, clouds);
  const away = wandered / coarse;
  for (let y = 0; y < frame.height; y += 1) {
    const row = Math.floor(y / coarse) * skyWidth;
    for (let x = 0; x < frame.width; x += 1) {
      const place = skyWidth - frame.width / coarse - 2 - (away % (skyWidth / 2)) + x / coarse;
      const left = Math.floor(place);
      const [a, b] = [clouds[row + left]!, clouds[row + left + 1]!];
      const gain = 1 - depth * (0.5 + a + (b - a) * (place - left));
      const at = y * frame.width + x;
      frame.luma[at] = Math.min(black + (frame.luma[at]! - black) * gain, 235);
    }
  }
}
