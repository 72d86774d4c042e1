import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sceneArguments } from '../../cli/demo/scene.ts';

/** Visits of a film: one every `everySeconds`, with the lengths in turn, in seconds. */
export type Schedule = { lengths: readonly number[]; everySeconds: number };

/** Visit, in seconds from the begin of the film: the stop sign is in every frame of it and in no other, or all frames are of a clip, with a cut on both sides. */
export type Visit = { from: number; to: number };

const framesPerSecond = 10;

/** Returns the visits that are over before `seconds`. */
export function listVisits({ lengths, everySeconds }: Schedule, seconds: number): Visit[] {
  const count = Math.floor(seconds / everySeconds);
  return Array.from({ length: count }, (_, index) => {
    const length = lengths[index % lengths.length] ?? 0;
    const to = (index + 1) * everySeconds - pauseSeconds;
    return { from: to - length, to };
  }).filter(({ to }) => to <= seconds);
}

/** Time from a visit to the end of its period: the film begins and ends without one. */
const pauseSeconds = 3;

/** Streams of a film: renditions by their height, with a key frame every `keyFrameSeconds`, in segments of `segmentSeconds` or as one file. */
export type Recording = {
  name: string;
  heights: readonly number[];
  keyFrameSeconds: number;
  segmentSeconds?: number;
};

/**
 * Records the scene of `npm run stream` with these visits, all streams from the same frames: `<name>/<height>/<number>.ts`, or `<name>.mp4`. With clips, a visit
 * is one of them in turn, repeated to its length, instead of the stop sign. Returns the paths of the clips as they are shown.
 */
export async function recordFilm(
  ffmpegPath: string,
  directory: string,
  { schedule, seconds, clips }: { schedule: Schedule; seconds: number; clips: readonly string[] },
  recordings: readonly Recording[],
): Promise<string[]> {
  const visits = listVisits(schedule, seconds);
  const isVisited = visits
    .map(({ from, to }) => `between(t,${from},${to - 0.5 / framesPerSecond})`)
    .join('+');
  const { source, shown } =
    clips.length > 0
      ? await spliceClips(ffmpegPath, directory, { schedule, visits, clips })
      : { source: readScene(`if(${isVisited},560,-400)`), shown: [] };
  const outputs = recordings.flatMap((recording) =>
    recording.heights.map((height) => ({ ...recording, height })),
  );
  const labels = outputs.map((_, index) => `[out${index}]`);
  const graph = source.indexOf('-filter_complex') + 1;
  source[graph] = [
    source[graph],
    `[scene]split=${outputs.length}${outputs.map((_, index) => `[in${index}]`).join('')}`,
    ...outputs.map(({ height }, index) => `[in${index}]scale=-2:${height}${labels[index]}`),
  ].join(';');
  const args: string[] = [];
  for (const [index, { name, height, keyFrameSeconds, segmentSeconds }] of outputs.entries()) {
    args.push('-map', labels[index] ?? '', '-t', String(seconds));
    args.push(
      ...`-c:v libx264 -preset ultrafast -crf 34 -tune zerolatency -pix_fmt yuv420p -g ${keyFrameSeconds * framesPerSecond} -sc_threshold 0`.split(
        ' ',
      ),
    );
    if (segmentSeconds === undefined) {
      args.push(join(directory, `${name}.mp4`));
      continue;
    }
    const folder = join(directory, name, String(height));
    await mkdir(folder, { recursive: true });
    args.push('-f', 'hls', '-hls_time', String(segmentSeconds), '-hls_list_size', '0');
    args.push('-hls_segment_filename', join(folder, '%d.ts'), join(folder, 'list.m3u8'));
  }
  await promisify(execFile)(ffmpegPath, [...source, ...args], { timeout: 1_800_000 });
  return shown;
}

/** Returns the arguments for the scene, without `-re`: as fast as possible. */
function readScene(signX: string): string[] {
  const scene = sceneArguments({ signX, startsAt: new Date() });
  return ['-nostdin', '-loglevel', 'error', ...scene.slice(1, scene.indexOf('-map'))];
}

/** Encodes the scene and each clip once. Returns the arguments for the scene with a clip at each visit, from a list of these files. */
async function spliceClips(
  ffmpegPath: string,
  directory: string,
  { schedule, visits, clips }: { schedule: Schedule; visits: readonly Visit[]; clips: readonly string[] },
): Promise<{ source: string[]; shown: string[] }> {
  const encode = async (name: string, args: string[], seconds: number) => {
    const output = `-t ${seconds} -c:v libx264 -preset ultrafast -crf 20 -tune zerolatency -pix_fmt yuv420p`;
    const path = join(directory, name);
    await promisify(execFile)(ffmpegPath, [...args, ...output.split(' '), path], { timeout: 600_000 });
    return path;
  };
  const scene = await encode('scene.mp4', [...readScene('-400'), '-map', '[scene]'], schedule.everySeconds);
  const seconds = Math.max(...schedule.lengths);
  const shown: string[] = [];
  for (const [index, clip] of clips.entries()) {
    const input = ['-nostdin', '-loglevel', 'error', '-stream_loop', '-1', '-i', clip];
    const filters = ['-vf', `fps=${framesPerSecond},scale=1280:720`];
    shown.push(await encode(`clip-${index}.mp4`, [...input, ...filters], seconds));
  }
  const part = (path: string, length: number) => `file '${path}'\noutpoint ${length}\n`;
  const parts = visits.map(({ from, to }, index) => {
    const before = from - (visits[index - 1]?.to ?? 0);
    return part(scene, before) + part(shown[index % shown.length] ?? scene, to - from);
  });
  const list = join(directory, 'parts.txt');
  await writeFile(list, parts.join('') + part(scene, schedule.everySeconds));
  const input = `-nostdin -loglevel error -f concat -safe 0 -i ${list} -filter_complex [0:v]fps=${framesPerSecond}[scene]`;
  return { source: input.split(' '), shown };
}
