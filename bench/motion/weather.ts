import { blend, type Frame } from './frame.ts';
import type { Random } from './random.ts';
import type { Scene } from './scene.ts';

/** Draws raindrops or snowflakes at new positions in every frame: between two checks each of them has fallen. */
export function drawWeather(frame: Frame, { kind, amount }: Scene['weather'], random: Random): void {
  for (let drop = 0; drop < amount; drop += 1) {
    const x = random.whole(0, frame.width - 1);
    const y = random.whole(0, frame.height - 1);
    if (kind === 'rain') drawStreak(frame, x, y, random);
    if (kind === 'snow') drawFlake(frame, x, y, random);
  }
}

function drawStreak(frame: Frame, x: number, y: number, random: Random): void {
  const length = random.whole(20, 80);
  const share = random.between(0.15, 0.45);
  for (let along = 0; along < length; along += 1) {
    const across = x + (along >> 3);
    blend(frame, across, y + along, 215, share);
    blend(frame, across + 1, y + along, 215, share);
  }
}

/** Draws mostly distant, small flakes and few near, large ones. */
function drawFlake(frame: Frame, x: number, y: number, random: Random): void {
  const radius = 1.5 + 7 * random.between(0, 1) ** 3;
  const share = random.between(0.5, 0.9);
  const reach = Math.ceil(radius);
  for (let down = -reach; down <= reach; down += 1) {
    for (let across = -reach; across <= reach; across += 1) {
      if (down * down + across * across <= radius * radius) blend(frame, x + across, y + down, 230, share);
    }
  }
}
