import { join } from 'node:path';
import { type LiveStream, type Part, runFfmpeg, words } from '../streams.ts';

/** `moving`: every frame differs. `still`: one picture. `visited`: one picture, with something that moves for 6 s of each visit. */
export type Picture = 'moving' | 'still' | 'visited';

export type Cameras = {
  sources: number;
  pictures: readonly Picture[];
  visitSeconds: number;
  isRtsp: boolean;
};

const framesPerSecond = 30;
const groupSeconds = 2;
const maxStills = 100;
const maxVisited = 10;

/**
 * Records 720p30, and returns `sources` streams of each kind of picture, named `moving-0`: no encoder runs during the measurement. Streams that move begin at
 * different places of a long recording, and still ones have a picture each, so that no two of them show the same picture at nearly the same time: the service
 * would judge it once.
 */
export async function recordCameras(
  ffmpegPath: string,
  directory: string,
  { sources, pictures, visitSeconds, isRtsp }: Cameras,
): Promise<LiveStream[]> {
  // At least 8 s between two streams, or so many streams that the service keeps no picture for that long.
  const movingSeconds = Math.max(4 * Math.min(sources, 40), sources) * groupSeconds;
  const stills = Math.min(sources, maxStills);
  const visited = Math.min(sources, maxVisited);
  const size = 'size=1280x720';
  const visitor = `overlay=y=260:x='mod(t,${visitSeconds})*220':enable='lt(mod(t,${visitSeconds}),6)'`;
  const recordings: Record<Picture, { graph: string; seconds: number; part: (index: number) => Part }> = {
    moving: {
      graph: `testsrc2=${size}:rate=${framesPerSecond}`,
      seconds: movingSeconds,
      part: (index) => ({
        fromSeconds: 0,
        seconds: movingSeconds,
        beginsAtSeconds: Math.floor((index * movingSeconds) / groupSeconds / sources) * groupSeconds,
      }),
    },
    still: {
      graph: `testsrc2=${size}:rate=1/${groupSeconds},fps=${framesPerSecond}`,
      seconds: stills * groupSeconds,
      part: (index) => ({
        fromSeconds: (index % stills) * groupSeconds,
        seconds: groupSeconds,
        beginsAtSeconds: 0,
      }),
    },
    visited: {
      graph:
        `testsrc2=${size}:rate=1/${visitSeconds},fps=${framesPerSecond},noise=alls=4:allf=t[scene];` +
        `color=red:size=120x240:rate=${framesPerSecond}[visitor];[scene][visitor]${visitor}`,
      seconds: visited * visitSeconds,
      part: (index) => ({
        fromSeconds: (index % visited) * visitSeconds,
        seconds: visitSeconds,
        beginsAtSeconds: (index * 7 * groupSeconds) % visitSeconds,
      }),
    },
  };
  const streams: LiveStream[] = [];
  for (const picture of pictures) {
    const { graph, seconds, part } = recordings[picture];
    const file = join(directory, `${picture}.mp4`);
    const group = groupSeconds * framesPerSecond;
    const encoding = `-t ${seconds} -c:v libx264 -preset ultrafast -b:v 3M -g ${group} -keyint_min ${group} -sc_threshold 0 -pix_fmt yuv420p`;
    await runFfmpeg(ffmpegPath, ['-f', 'lavfi', '-i', graph, ...words(encoding), file]);
    for (let index = 0; index < sources; index += 1)
      streams.push({
        name: `${picture}-${index}`,
        renditions: [{ height: 720, file }],
        framesPerSecond,
        segmentSeconds: isRtsp ? 0 : groupSeconds,
        part: part(index),
      });
  }
  return streams;
}
