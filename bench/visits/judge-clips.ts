import { basename } from 'node:path';
import { createThreadDetector } from '../../adapters/vision/objects/thread-detector.ts';
import { createObjectsVision } from '../../adapters/vision/objects/objects-vision.ts';
import { findNetworkFiles } from '../../adapters/vision/objects/packages.ts';
import { createImageDecoder } from '../../adapters/media/ffmpeg/decode-image.ts';
import { readFrames } from '../../adapters/recordings/read-frames.ts';

/**
 * Returns in how many of a clip's own frames, one of each second, the object model sees the condition, by the name of the clip. `shown` are the clips as the film
 * has them. A visit of a clip without any is missed by the model, not by the scan.
 */
export async function judgeClips(
  ffmpegPath: string,
  clips: readonly string[],
  shown: readonly string[],
  condition: string,
): Promise<Record<string, { held: number; frames: number }>> {
  const files = findNetworkFiles();
  if (files === null) throw new Error('Run npm ci to install the object model');
  const detector = createThreadDetector(files);
  const model = createObjectsVision({ decoder: createImageDecoder({ ffmpegPath }), detector });
  const { signal } = new AbortController();
  const counts: Record<string, { held: number; frames: number }> = {};
  for (const [index, path] of shown.entries()) {
    const count = (counts[basename(clips[index] ?? '')] = { held: 0, frames: 0 });
    let next = 0;
    for await (const { seconds, frame } of readFrames(ffmpegPath, path, { keyFramesOnly: false })) {
      if (seconds < next) continue;
      next = Math.floor(seconds) + 1;
      const { triggered } = await model.judge({ mode: 'frames', frame }, condition, signal);
      count.frames += 1;
      count.held += triggered ? 1 : 0;
    }
  }
  await detector.close();
  return counts;
}
