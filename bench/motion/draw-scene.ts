import { drawBackground, margin } from './backgrounds.ts';
import { blankFrame, type Frame } from './frame.ts';
import { applyLight } from './light.ts';
import { drawOverlay } from './overlays.ts';
import { randomFrom } from './random.ts';
import { picture, type Scene } from './scene.ts';
import { drawThing } from './things.ts';
import { drawWeather } from './weather.ts';

/**
 * Draws the frames of a scene before camera noise and encoding, in encoding order. Each is valid until the next one
 * is requested.
 */
export function* drawScene(scene: Scene): Generator<Uint8Array> {
  const background = drawBackground(scene.background);
  const random = randomFrom(scene.seed * 7919 + 17);
  const frame = blankFrame();
  const { framesPerTick } = scene.encoding;
  for (let at = 0; at < scene.ticks * framesPerTick; at += 1) {
    const tick = Math.floor(at / framesPerTick);
    // Even, so that chroma shifts with luma.
    const shiftX = 2 * Math.round(random.between(-scene.shake, scene.shake) / 2);
    const shiftY = 2 * Math.round(random.between(-scene.shake, scene.shake) / 2);
    copyShifted(background, frame, shiftX, shiftY);
    for (const thing of scene.things) drawThing(frame, thing, tick, shiftX, shiftY);
    applyLight(frame, scene, tick, random);
    drawWeather(frame, scene.weather, random);
    for (const overlay of scene.overlays) drawOverlay(frame, overlay, tick);
    yield Buffer.concat([frame.luma, frame.blueness, frame.redness]);
  }
}

function copyShifted(from: Frame, to: Frame, shiftX: number, shiftY: number): void {
  copyPlane(from.luma, from.width, to.luma, picture.width, margin - shiftX, margin - shiftY);
  const [x, y] = [(margin - shiftX) >> 1, (margin - shiftY) >> 1];
  copyPlane(from.blueness, from.width >> 1, to.blueness, picture.width >> 1, x, y);
  copyPlane(from.redness, from.width >> 1, to.redness, picture.width >> 1, x, y);
}

function copyPlane(
  from: Uint8Array,
  fromWidth: number,
  to: Uint8Array,
  width: number,
  x: number,
  y: number,
): void {
  for (let row = 0; row * width < to.length; row += 1) {
    const start = (row + y) * fromWidth + x;
    to.set(from.subarray(start, start + width), row * width);
  }
}
