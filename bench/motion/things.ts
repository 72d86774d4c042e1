import type { Frame } from './frame.ts';
import type { Thing } from './scene.ts';
import { texture } from './texture.ts';

/** Share of its bounding box that each shape fills, for sizing it by its share of the frame. */
export const filled: Record<Thing['shape'], number> = { box: 1, ellipse: Math.PI / 4, person: 0.665 };

/** Draws an object at a tick, shaded and with its own grain. */
export function drawThing(frame: Frame, thing: Thing, tick: number, shiftX: number, shiftY: number): void {
  for (const place of thing.places) {
    if (tick < place.fromTick || tick > place.toTick) continue;
    const left = Math.round(place.x) + shiftX;
    const top = Math.round(place.y) + shiftY;
    const { mean } = covered(frame, thing, left, top);
    const grain = thing.luma === null ? null : surface(thing);
    const rise = thing.luma ?? 0;
    for (let y = Math.max(0, -top); y < thing.height && top + y < frame.height; y += 1) {
      for (let x = Math.max(0, -left); x < thing.width && left + x < frame.width; x += 1) {
        if (!inside(thing, x, y)) continue;
        const at = (top + y) * frame.width + left + x;
        if (grain) {
          const level = mean + rise + grain[y * thing.width + x]! * (8 + Math.abs(rise) / 4);
          const now = frame.luma[at]!;
          frame.luma[at] = Math.min(Math.max(now + (level - now) * place.opacity, 16), 235);
        }
        if (((left + x) | (top + y)) & 1) continue;
        const chromaAt = ((top + y) >> 1) * (frame.width >> 1) + ((left + x) >> 1);
        const { blueness, redness } = frame;
        blueness[chromaAt] = blueness[chromaAt]! + thing.blueness * place.opacity;
        redness[chromaAt] = redness[chromaAt]! + thing.redness * place.opacity;
      }
    }
  }
}

const surfaces = new WeakMap<Thing, Float32Array>();

function surface(thing: Thing): Float32Array {
  const known = surfaces.get(thing);
  if (known) return known;
  const cell = Math.max(thing.width / 3, 8);
  const made = texture(thing.width, thing.height, thing.seed, { cell, octaves: 4, roughness: 0.6 });
  surfaces.set(thing, made);
  return made;
}

/** Returns the mean brightness of the area that the object will cover. */
function covered(frame: Frame, thing: Thing, left: number, top: number): { mean: number } {
  let total = 0;
  let count = 0;
  for (let y = Math.max(0, top); y < Math.min(top + thing.height, frame.height); y += 4) {
    for (let x = Math.max(0, left); x < Math.min(left + thing.width, frame.width); x += 4) {
      total += frame.luma[y * frame.width + x]!;
      count += 1;
    }
  }
  return { mean: count === 0 ? 128 : total / count };
}

function inside({ shape, width, height }: Thing, x: number, y: number): boolean {
  if (shape === 'box') return true;
  const across = ((x + 0.5) / width) * 2 - 1;
  const down = (y + 0.5) / height;
  if (shape === 'ellipse') return across ** 2 + (down * 2 - 1) ** 2 <= 1;
  if (down < 0.18) return (across / 0.45) ** 2 + ((down - 0.09) / 0.09) ** 2 <= 1;
  if (down < 0.6) return Math.abs(across) <= 0.95;
  return Math.abs(across) <= 0.7 && Math.abs(across) >= 0.08;
}
