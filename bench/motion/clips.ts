import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { thumbnailFilter } from '../../adapters/media/ffmpeg/capture-arguments.ts';
import { thumbnail } from '../../core/records/capture.ts';
import type { CompareMotion } from '../../core/records/motion.ts';
import { rules } from '../../core/rules.ts';
import { drawScene } from './draw.ts';
import { picture } from './frame.ts';
import type { Scene } from './scenes.ts';

/** Detector that reads the thumbnails of one clip in order and returns true for motion. */
type Detector = (pixels: Uint8Array) => boolean;
/** Clip with a thumbnail of each tick. */
export type Clip = { scene: Scene; pictures: Uint8Array[] };
/** Number of hits and of possible hits. */
export type Tally = { hits: number; of: number };
export type Outcome = ReturnType<typeof evaluate>;

/** Evaluates a detector on all clips. */
export function evaluate(clips: readonly Clip[], newDetector: () => Detector) {
  const judged = clips.map(({ scene, pictures }) => {
    const detector = newDetector();
    return { scene, moved: pictures.map((one) => detector(one)) };
  });
  return {
    /** Ticks of still clips without detection. The first frame always needs a check and is not counted. */
    savings: (titles?: readonly string[]): Tally =>
      tally(
        judged
          .filter(({ scene }) => scene.events.length === 0 && (titles?.includes(scene.title) ?? true))
          .flatMap(({ moved }) => moved.slice(1).map((yes) => !yes)),
      ),
    /** Events that are detected in time. A forced check is no detection. */
    recall: (shares = (share: number) => share > 0, title?: string): Tally =>
      tally(
        judged
          .filter(({ scene }) => title === undefined || scene.title === title)
          .flatMap(({ scene, moved }) =>
            scene.events
              .filter(({ share }) => shares(share))
              .map(({ fromTick, byTick }) => moved.slice(fromTick, byTick + 1).includes(true)),
          ),
      ),
  };
}

function tally(results: readonly boolean[]): Tally {
  return { hits: results.filter(Boolean).length, of: results.length };
}

/** Wraps a comparison with the state of a job and its forced checks, which move the reference but are no detection. */
export function asInAJob(compare: CompareMotion): Detector {
  let state: string | null = null;
  let skipped = 0;
  return (one) => {
    const { moved, stateWithNewReference, stateWithSameReference } = compare(one, state);
    const checks = moved || skipped >= rules.forceCheckAfterSkips;
    state = checks ? stateWithNewReference : stateWithSameReference;
    skipped = checks ? 0 : skipped + 1;
    return moved;
  };
}

/**
 * Detects motion like many small programs: more than 15 levels on more than 0.1 % of the luma of two consecutive
 * frames.
 */
export function previousFrame(): Detector {
  let before: Uint8Array | null = null;
  return (one) => {
    const last = before;
    before = one;
    if (last === null) return true;
    const luma = one.subarray(0, (one.length * 2) / 3);
    return luma.filter((level, index) => Math.abs(level - last[index]!) > 15).length > luma.length * 0.001;
  };
}

/** The temporary folder of a test run is removed at its end; this cache outlives it. */
const cacheDirectory = join(
  process.env['WATCHPOST_TEST_SYSTEM_FOLDER'] ?? tmpdir(),
  'watchpost-bench-motion',
);
const sources = readdirSync(import.meta.dirname).toSorted();
const drawing = sources.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8')).join();

/** Draws scenes, `atOnce` of them at the same time. */
export async function drawClips(scenes: readonly Scene[], atOnce: number): Promise<Clip[]> {
  const rest = scenes.entries();
  const drawn: Clip[] = [];
  const work = async (): Promise<void> => {
    for (const [index, scene] of rest) drawn[index] = { scene, pictures: await renderThumbnails(scene) };
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return drawn;
}

/** Creates one thumbnail per tick, through H.264 at 720p. Cached in the temporary folder, until the drawing changes. */
async function renderThumbnails(scene: Scene): Promise<Uint8Array[]> {
  const hash = createHash('sha256').update(`${drawing} ${scene.title} ${scene.seed}`);
  const path = join(cacheDirectory, `${hash.digest('hex').slice(0, 32)}.yuv`);
  const kept = await readFile(path).catch(() => null);
  if (kept !== null) return split(kept);
  const { ticks, encoding } = scene;
  const decode = `-threads 1 -f mpegts -i pipe:0 -fps_mode passthrough -vf ${thumbnailFilter} -f rawvideo pipe:1`;
  const pictures = split(await ffmpeg(decode, [await encode(scene)]));
  if (pictures.length !== ticks * encoding.framesPerTick)
    throw new Error(`ffmpeg returned ${pictures.length} of ${ticks * encoding.framesPerTick} frames`);
  const made = Array.from({ length: ticks }, (_, tick) => {
    const within = encoding.group > encoding.framesPerTick ? tick % encoding.framesPerTick : 0;
    return pictures[tick * encoding.framesPerTick + within]!;
  });
  await mkdir(cacheDirectory, { recursive: true });
  await writeFile(`${path}.${process.pid}`, Buffer.concat(made));
  await rename(`${path}.${process.pid}`, path);
  return made;
}

/** Encodes ten frames per second, because the encoder's rate control works in seconds. */
function encode(scene: Scene): Promise<Buffer> {
  const { quality, group } = scene.encoding;
  const noise = scene.noise > 0 ? `,noise=alls=${scene.noise}:allf=t:all_seed=${scene.seed}` : '';
  return ffmpeg(
    `-f rawvideo -pix_fmt yuv444p -s ${picture.width}x${picture.height} -r 10 -i pipe:0 -vf format=yuv420p${noise} ` +
      `-c:v libx264 -threads 1 -preset superfast -bf 0 -g ${group} -sc_threshold 0 ${quality} -f mpegts pipe:1`,
    drawScene(scene),
  );
}

function split(raw: Uint8Array): Uint8Array[] {
  return Array.from({ length: raw.length / thumbnail.bytes }, (_, index) =>
    raw.subarray(index * thumbnail.bytes, (index + 1) * thumbnail.bytes),
  );
}

async function ffmpeg(options: string, input: Iterable<Uint8Array>): Promise<Buffer> {
  const child = spawn('ffmpeg', ['-nostdin', '-loglevel', 'error', ...options.split(' ')], {
    timeout: 600_000,
    killSignal: 'SIGKILL',
  });
  const [output, complaints] = [buffer(child.stdout), text(child.stderr)];
  const ended = once(child, 'close');
  const fed = pipeline(Readable.from(input, { objectMode: false }), child.stdin).catch(() => undefined);
  const [[code]] = await Promise.all([ended, fed]);
  if (code !== 0) throw new Error(await complaints);
  return output;
}
