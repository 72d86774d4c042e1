/** Milliseconds a decision of the motion pre-filter, against a naive difference to the previous picture. `node bench/motion.ts` */
import { spawnSync } from 'node:child_process';
import { changedPixels } from '../adapters/media/motion/changed-pixels.ts';
import { blurPlanes } from '../adapters/media/motion/blur.ts';
import { compareMotion } from '../adapters/media/motion/compare-motion.ts';
import { largestComponent } from '../adapters/media/motion/components.ts';
import { learnNoise, quietNoiseMap } from '../adapters/media/motion/noise-map.ts';
import { planesOf } from '../adapters/media/motion/planes.ts';
import { thumbnail } from '../core/capture.ts';

const pictures = noisyPictures(20);
const rounds = 30;

function decide(before: Uint8Array, now: Uint8Array): boolean {
  const noise = quietNoiseMap();
  const changes = changedPixels(planesOf(before), blurPlanes(planesOf(now)), noise);
  learnNoise(noise, changes.lumaDistance);
  return largestComponent(changes.mask, thumbnail.width) >= 6;
}

/** What many detectors do: more than 15 levels on more than 0.1 % of the luma. */
function naive(before: Uint8Array, now: Uint8Array): boolean {
  const pixels = thumbnail.width * thumbnail.height;
  let changed = 0;
  for (let at = 0; at < pixels; at += 1) {
    if (Math.abs(now[at]! - before[at]!) > 15) changed += 1;
  }
  return changed > pixels * 0.001;
}

function withState(before: Uint8Array, now: Uint8Array): boolean {
  return compareMotion(now, compareMotion(before, null).stateIfLooked).moved;
}

function millisecondsEach(compare: (before: Uint8Array, now: Uint8Array) => boolean): number {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    for (let at = 1; at < pictures.length; at += 1) compare(pictures[at - 1]!, pictures[at]!);
    times.push((performance.now() - start) / (pictures.length - 1));
  }
  return times.toSorted((a, b) => a - b)[rounds >> 1]!;
}

function noisyPictures(count: number): Uint8Array[] {
  const filter = 'testsrc2=s=1280x720:r=5,noise=alls=20:allf=t,scale=160:90:flags=area,format=yuv420p';
  const options = ['-f', 'lavfi', '-i', filter, '-frames:v', String(count), '-f', 'rawvideo', 'pipe:1'];
  const { stdout } = spawnSync('ffmpeg', ['-nostdin', '-loglevel', 'error', ...options], {
    maxBuffer: 1 << 26,
  });
  return Array.from({ length: count }, (_, at) =>
    stdout.subarray(at * thumbnail.bytes, (at + 1) * thumbnail.bytes),
  );
}

const decision = millisecondsEach(decide);
const difference = millisecondsEach(naive);
const whole = millisecondsEach(withState);
console.log(`decision            ${decision.toFixed(2)} ms`);
console.log(`naive difference    ${difference.toFixed(3)} ms`);
console.log(`decision / naive    ${(decision / difference).toFixed(0)}`);
console.log(`two calls with state codec (first picture, next picture)  ${whole.toFixed(2)} ms`);
