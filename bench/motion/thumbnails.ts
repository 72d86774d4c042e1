import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { thumbnailFilter } from '../../adapters/media/ffmpeg/capture-arguments.ts';
import { thumbnail } from '../../core/records/capture.ts';
import { drawScene } from './draw.ts';
import { picture, type Scene } from './scenes.ts';

/** The temporary folder of a test run is removed at its end; this cache outlives it. */
const cacheDirectory = join(
  process.env['WATCHPOST_TEST_SYSTEM_FOLDER'] ?? tmpdir(),
  'watchpost-bench-motion',
);
/** Version of the cache in the temporary folder. Increment it with every change of drawing or encoding. */
const drawingVersion = '2';

/** Creates one thumbnail per tick, through H.264 at 720p. Cached in the temporary folder under a hash of the scene. */
export async function renderThumbnails(scene: Scene): Promise<Uint8Array[]> {
  const hash = createHash('sha256').update(drawingVersion).update(JSON.stringify(scene));
  const path = join(cacheDirectory, `${hash.digest('hex').slice(0, 32)}.yuv`);
  const kept = await readFile(path).catch(() => null);
  if (kept !== null) return split(kept);
  const made = sampled(scene, split(await decode(await encode(scene))));
  await mkdir(cacheDirectory, { recursive: true });
  await writeFile(`${path}.${process.pid}`, Buffer.concat(made));
  await rename(`${path}.${process.pid}`, path);
  return made;
}

/** Encodes ten frames per second, because the encoder's rate control works in seconds. */
function encode(scene: Scene): Promise<Buffer> {
  const { rate, group } = scene.encoding;
  const noise = scene.noise > 0 ? `noise=alls=${scene.noise}:allf=t:all_seed=${scene.seed},` : '';
  const quality =
    'crf' in rate
      ? `-crf ${rate.crf}`
      : `-b:v ${rate.kilobits}k -maxrate ${rate.kilobits}k -bufsize ${rate.kilobits}k`;
  return ffmpeg(
    `-f rawvideo -pix_fmt yuv420p -s ${picture.width}x${picture.height} -r 10 -i pipe:0 -vf ${noise}format=yuv420p ` +
      `-c:v libx264 -threads 1 -preset superfast -bf 0 -g ${group} -sc_threshold 0 ${quality} -f mpegts pipe:1`,
    drawScene(scene),
  );
}

function decode(stream: Buffer): Promise<Buffer> {
  const options = `-threads 1 -f mpegts -i pipe:0 -fps_mode passthrough -vf ${thumbnailFilter} -f rawvideo pipe:1`;
  return ffmpeg(options, [stream]);
}

function sampled({ ticks, encoding }: Scene, pictures: Uint8Array[]): Uint8Array[] {
  const { framesPerTick, sampled: which } = encoding;
  if (pictures.length !== ticks * framesPerTick)
    throw new Error(`ffmpeg returned ${pictures.length} of ${ticks * framesPerTick} frames`);
  return Array.from({ length: ticks }, (_, tick) => {
    const within = which === 'any' ? tick % framesPerTick : 0;
    return pictures[tick * framesPerTick + within]!;
  });
}

function split(raw: Uint8Array): Uint8Array[] {
  return Array.from({ length: raw.length / thumbnail.bytes }, (_, at) =>
    raw.subarray(at * thumbnail.bytes, (at + 1) * thumbnail.bytes),
  );
}

async function ffmpeg(options: string, input: Iterable<Uint8Array>): Promise<Buffer> {
  const child = spawn('ffmpeg', ['-nostdin', '-loglevel', 'error', ...options.split(' ')], {
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  const [output, complaints] = [buffer(child.stdout), text(child.stderr)];
  const ended = once(child, 'close');
  await pipeline(Readable.from(input, { objectMode: false, highWaterMark: 1 << 21 }), child.stdin);
  const [code] = await ended;
  if (code !== 0) throw new Error(await complaints);
  return output;
}
