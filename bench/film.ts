import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sceneArguments } from '../cli/demo/scene.ts';
import { type LiveStream, runFfmpeg, words } from './streams.ts';

/** Visits of a film: one every `everySeconds`, with the lengths in turn, in seconds. */
export type Schedule = { lengths: readonly number[]; everySeconds: number };

/** Visit, in seconds from the begin of the film: the stop sign is in every frame of it and in no other, or all frames are of a clip, with a cut on both sides. */
export type Visit = { from: number; to: number };

/** Stream of a film: the heights of its renditions, and the seconds between key frames and of a segment (0: RTSP). */
export type FilmStream = {
  name: string;
  heights: readonly [number, ...number[]];
  keyFrameSeconds: number;
  segmentSeconds: number;
};

type Film = { schedule: Schedule; seconds: number; clips?: readonly string[] };

const framesPerSecond = 10;
/** Time from a visit to the end of its period: the film begins and ends without one. */
const pauseSeconds = 3;
const encoder = '-c:v libx264 -preset ultrafast -tune zerolatency -pix_fmt yuv420p';

/** Returns the visits that are over before `seconds`. */
export function listVisits({ lengths, everySeconds }: Schedule, seconds: number): Visit[] {
  return Array.from({ length: Math.floor(seconds / everySeconds) }, (_, index) => {
    const to = (index + 1) * everySeconds - pauseSeconds;
    return { from: to - (lengths[index % lengths.length] ?? 0), to };
  });
}

/**
 * Records the scene of `npm run stream` with these visits, all recordings from the same frames. With clips, a visit is one of them in turn, repeated to its length,
 * instead of the stop sign; `shown` are the clips as they are shown.
 */
export async function recordFilm(
  ffmpegPath: string,
  directory: string,
  { schedule, seconds, clips = [] }: Film,
  streams: readonly FilmStream[],
): Promise<{ streams: LiveStream[]; shown: string[] }> {
  const visits = listVisits(schedule, seconds);
  const lastFrame = 0.5 / framesPerSecond;
  const isVisited = visits.map(({ from, to }) => `between(t,${from},${to - lastFrame})`).join('+');
  const { source, shown } =
    clips.length > 0
      ? await spliceClips(ffmpegPath, directory, { schedule, visits, clips })
      : { source: readScene(`if(${isVisited},560,-400)`), shown: [] };
  const toFile = (height: number, group: number) => join(directory, `${height}-${group}.mp4`);
  const recordings = new Map<string, { height: number; group: number }>();
  for (const { heights, keyFrameSeconds: group } of streams)
    for (const height of heights) recordings.set(toFile(height, group), { height, group });
  const outputs = [...recordings].map(([file, { height, group }], index) => ({
    input: `[in${index}]`,
    scale: `[in${index}]scale=-2:${height}[out${index}]`,
    args: [
      ...words(
        `-map [out${index}] -t ${seconds} ${encoder} -crf 34 -g ${group * framesPerSecond} -sc_threshold 0`,
      ),
      file,
    ],
  }));
  const split = `[scene]split=${outputs.length}${outputs.map(({ input }) => input).join('')}`;
  const graph = source.indexOf('-filter_complex') + 1;
  source[graph] = [source[graph], split, ...outputs.map(({ scale }) => scale)].join(';');
  await runFfmpeg(ffmpegPath, [...source, ...outputs.flatMap(({ args }) => args)]);
  return {
    shown,
    streams: streams.map(({ name, heights: [first, ...others], keyFrameSeconds, segmentSeconds }) => {
      const toRendition = (height: number) => ({ height, file: toFile(height, keyFrameSeconds) });
      const renditions: LiveStream['renditions'] = [toRendition(first), ...others.map(toRendition)];
      return { name, renditions, framesPerSecond, segmentSeconds };
    }),
  };
}

/** Returns the arguments for the scene, without `-re`: as fast as possible. */
function readScene(signX: string): string[] {
  const scene = sceneArguments({ signX, startsAt: new Date() });
  return scene.slice(1, scene.indexOf('-map'));
}

type Splice = {
  schedule: Schedule;
  visits: readonly Visit[];
  clips: readonly string[];
};

/** Encodes the scene and each clip once. Returns the arguments for the scene with a clip at each visit, from a list of these files. */
async function spliceClips(
  ffmpegPath: string,
  directory: string,
  { schedule, visits, clips }: Splice,
): Promise<{ source: string[]; shown: string[] }> {
  const encode = async (name: string, args: string[], seconds: number) => {
    const path = join(directory, name);
    await runFfmpeg(ffmpegPath, [...args, ...words(`-t ${seconds} ${encoder} -crf 20`), path]);
    return path;
  };
  const scene = await encode('scene.mp4', [...readScene('-400'), '-map', '[scene]'], schedule.everySeconds);
  const shown: string[] = [];
  for (const [index, clip] of clips.entries()) {
    const input = ['-stream_loop', '-1', '-i', clip, '-vf', `fps=${framesPerSecond},scale=1280:720`];
    shown.push(await encode(`clip-${index}.mp4`, input, Math.max(...schedule.lengths)));
  }
  const part = (path: string, length: number) => `file '${path}'\noutpoint ${length}\n`;
  const parts = visits.map(({ from, to }, index) => {
    const before = from - (visits[index - 1]?.to ?? 0);
    return part(scene, before) + part(shown[index % shown.length] ?? scene, to - from);
  });
  const list = join(directory, 'parts.txt');
  await writeFile(list, parts.join('') + part(scene, schedule.everySeconds));
  const input = `-f concat -safe 0 -i ${list} -filter_complex [0:v]fps=${framesPerSecond}[scene]`;
  return { source: words(input), shown };
}
