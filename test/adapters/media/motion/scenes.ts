import { spawnSync } from 'node:child_process';
import { thumbnail } from '../../../../core/records/capture.ts';
import { compareMotion } from '../../../../adapters/media/motion/compare-motion.ts';
import type { MotionComparison } from '../../../../core/records/motion.ts';

/** Still, textured scene by day and by night. */
export const daylight = [
  'testsrc2=s=1280x720:r=1,trim=end_frame=1,noise=alls=40:all_seed=7,gblur=sigma=3',
  'loop=-1:1,setpts=N/TB,eq=contrast=0.5:brightness=-0.05',
].join(',');
export const night = `${daylight},eq=contrast=0.15:brightness=-0.36:saturation=0.4`;
export const sensorNoise = 'noise=alls=10:allf=t';

/** Clock digits in the top left corner, as bars with different rhythms, so that no font is needed. */
export const clock = [2, 3, 5, 7, 4]
  .map(
    (rhythm, digit) =>
      `drawbox=x=${40 + digit * 26}:y=24:w=18:h=32:color=white:t=fill:enable='lt(mod(t,${rhythm}),${rhythm / 2})'`,
  )
  .join(',');

export function box(side: number, color: string, fromSecond: number, toSecond = 1000): string {
  return `drawbox=x=640:y=360:w=${side}:h=${side}:color=${color}:t=fill:enable='between(t,${fromSecond - 0.01},${toSecond - 0.01})'`;
}

/** Time of the event in most scenes, in seconds and ticks: frames are one second apart. */
export const changeAt = 4;

type Encoding = { seconds?: number; bitrate?: string };

const rendered = new Map<string, Uint8Array[]>();

/**
 * Creates thumbnails like a capture: one per second, from a stream of key frames encoded by libx264. A scene is
 * rendered once.
 */
export function renderThumbnails(filter: string, encoding: Encoding = {}): Uint8Array[] {
  const key = JSON.stringify([filter, encoding]);
  const pictures = rendered.get(key) ?? render(filter, encoding);
  rendered.set(key, pictures);
  return pictures;
}

function render(filter: string, { seconds = 9, bitrate = '900k' }: Encoding): Uint8Array[] {
  const source = ['-f', 'lavfi', '-i', filter, '-t', String(seconds)];
  const rate = ['-b:v', bitrate, '-maxrate', bitrate, '-bufsize', bitrate];
  const h264 = [
    '-c:v',
    'libx264',
    // With threads, rate control depends on the load of the machine.
    '-threads',
    '1',
    '-preset',
    'ultrafast',
    '-g',
    '1',
    '-pix_fmt',
    'yuv420p',
  ];
  const stream = ffmpeg([...source, ...h264, ...rate, '-f', 'mpegts', 'pipe:1']);
  const keyFrames = ['-threads', '1', '-f', 'mpegts', '-i', 'pipe:0', '-fps_mode', 'passthrough'];
  const small = ['-vf', 'scale=160:90:flags=area,format=yuv420p', '-f', 'rawvideo', 'pipe:1'];
  const raw = ffmpeg([...keyFrames, ...small], stream);
  return Array.from({ length: raw.length / thumbnail.bytes }, (_, at) =>
    raw.subarray(at * thumbnail.bytes, (at + 1) * thumbnail.bytes),
  );
}

export type Tick = MotionComparison & { looked: boolean };

/** Runs the pre-filter over frames like a job, without forced checks. */
export function watch(pictures: Uint8Array[]): Tick[] {
  let state: string | null = null;
  return pictures.map((picture) => {
    const comparison = compareMotion(picture, state);
    state = comparison.moved ? comparison.stateWithNewReference : comparison.stateWithSameReference;
    return { ...comparison, looked: comparison.moved };
  });
}

/** Ticks with a check; 0 is the first frame. */
export function looks(pictures: Uint8Array[]): number[] {
  return watch(pictures).flatMap((tick, at) => (tick.looked ? [at] : []));
}

function ffmpeg(options: string[], input?: Uint8Array): Buffer {
  const run = spawnSync('ffmpeg', ['-nostdin', '-loglevel', 'error', ...options], {
    input,
    maxBuffer: 1 << 30,
  });
  if (run.status !== 0) throw new Error(run.stderr.toString());
  return run.stdout;
}
