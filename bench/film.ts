import { basename, join } from 'node:path';
import { sceneArguments } from '../cli/demo/scene.ts';
import { type LiveStream, runFfmpeg, words } from './streams.ts';

/**
 * Film of the scene of `npm run stream` with a visit every `everySeconds`, with the lengths in turn, in seconds. It
 * shows the stop sign, or one of the clips in turn, which repeats over the whole picture.
 */
export type Film = {
  lengths: readonly number[];
  everySeconds: number;
  seconds: number;
  clips?: readonly string[];
};

/** Visit, in seconds from the begin of the film: what it shows is in every frame of it and in no other. */
export type Visit = { from: number; to: number; shows: string };

/** Stream of a film: the heights of its renditions, and the seconds between key frames and of a segment (0: RTSP). */
export type FilmStream = {
  name: string;
  heights: readonly [number, ...number[]];
  keyFrameSeconds: number;
  segmentSeconds: number;
  windowSeconds?: number;
};

const framesPerSecond = 10;
/** Time from a visit to the end of its period: the film begins and ends without one. */
const pauseSeconds = 3;

/** Returns the visits of a film, which are over before its end. */
export function listVisits({ lengths, everySeconds, seconds, clips = [] }: Film): Visit[] {
  return Array.from({ length: Math.floor(seconds / everySeconds) }, (_, index) => {
    const to = (index + 1) * everySeconds - pauseSeconds;
    const length = lengths[index % lengths.length] ?? 0;
    return { from: to - length, to, shows: basename(clips[index % clips.length] ?? `${length} s`) };
  });
}

/** Records a film, all recordings from the same frames. */
export async function recordFilm(
  ffmpegPath: string,
  directory: string,
  film: Film,
  streams: readonly FilmStream[],
): Promise<LiveStream[]> {
  const { seconds, clips = [] } = film;
  const visits = listVisits(film);
  const signX = clips.length === 0 ? `if(${duringVisits(visits)},560,-400)` : '-400';
  const scene = sceneArguments({ signX, startsAt: new Date() });
  // Without `-re`: as fast as possible.
  const source = scene.slice(1, scene.indexOf('-map'));
  const shown = clips.map((_, clip) => {
    const clipVisits = visits.filter((__, index) => index % clips.length === clip);
    const [before, after] = [clip === 0 ? 'scene' : `scene${clip}`, `scene${clip + 1}`];
    return `[${clip + 2}:v]fps=${framesPerSecond},scale=1280:720,format=yuv420p[clip${clip}];[${before}][clip${clip}]overlay=enable='${duringVisits(clipVisits) || 0}'[${after}]`;
  });
  const toFile = (height: number, group: number) => join(directory, `${height}-${group}.mp4`);
  const recordings = new Map<string, { height: number; group: number }>();
  for (const { heights, keyFrameSeconds: group } of streams)
    for (const height of heights) recordings.set(toFile(height, group), { height, group });
  const outputs = [...recordings].map(([file, { height, group }], index) => ({
    input: `[in${index}]`,
    scale: `[in${index}]scale=-2:${height}[out${index}]`,
    args: words(
      `-map [out${index}] -t ${seconds} -c:v libx264 -preset ultrafast -tune zerolatency -pix_fmt yuv420p -crf 34 -g ${group * framesPerSecond} -sc_threshold 0 ${file}`,
    ),
  }));
  const last = clips.length === 0 ? 'scene' : `scene${clips.length}`;
  const split = `[${last}]split=${outputs.length}${outputs.map(({ input }) => input).join('')}`;
  const graph = source.indexOf('-filter_complex') + 1;
  source[graph] = [source[graph], ...shown, split, ...outputs.map(({ scale }) => scale)].join(';');
  const repeated = clips.flatMap((clip) => ['-stream_loop', '-1', '-i', clip]);
  source.splice(graph - 1, 0, ...repeated);
  await runFfmpeg(ffmpegPath, [...source, ...outputs.flatMap(({ args }) => args)]);
  return streams.map(({ name, heights: [first, ...others], keyFrameSeconds, ...segments }) => {
    const toRendition = (height: number) => ({ height, file: toFile(height, keyFrameSeconds) });
    const renditions: LiveStream['renditions'] = [toRendition(first), ...others.map(toRendition)];
    return { name, renditions, framesPerSecond, ...segments };
  });
}

/** Returns an expression of ffmpeg that is true in the frames of visits. */
function duringVisits(visits: readonly Visit[]): string {
  const lastFrame = 0.5 / framesPerSecond;
  return visits.map(({ from, to }) => `between(t,${from},${to - lastFrame})`).join('+');
}
