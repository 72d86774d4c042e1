import { spawnSync } from 'node:child_process';
import { afterAll, expect, test } from 'vitest';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { createObjectsVision } from '../../../../adapters/vision/objects/objects-vision.ts';
import { findNetworkFiles } from '../../../../adapters/vision/objects/packages.ts';
import { createThreadDetector } from '../../../../adapters/vision/objects/thread-detector.ts';
import { sceneArguments } from '../../../../cli/demo/scene.ts';
import { measuring, mp4 } from '../pixel/pictures.ts';
import { judgeCondition } from '../../../../core/ports/vision-model.ts';

const files = findNetworkFiles();
const detector = createThreadDetector(files ?? { graph: '', weights: '' });
afterAll(() => detector.close());
const objects = createObjectsVision({ decoder: createImageDecoder({ ffmpegPath: 'ffmpeg' }), detector });

/** Returns a frame of the demo's scene, with the sign at its place or before it arrives. */
function sceneFrame(hasSign: boolean): Uint8Array {
  const scene = sceneArguments({ signAfterSeconds: hasSign ? -10 : 10, startsAt: new Date(0) });
  const input = scene.filter((argument) => argument !== '-re');
  const jpeg = ['-frames:v', '1', '-c:v', 'mjpeg', '-q:v', '3', '-pix_fmt', 'yuvj420p', '-f', 'image2pipe'];
  const { status, stdout, stderr } = spawnSync(
    'ffmpeg',
    ['-nostdin', '-v', 'error', ...input, ...jpeg, 'pipe:1'],
    {
      maxBuffer: 1 << 26,
    },
  );
  if (status !== 0) throw new Error(stderr.toString());
  return stdout;
}

const never = new AbortController().signal;
const condition = 'A red stop sign is in the yard';

test.skipIf(files === null)(
  'The object model recognizes the stop sign of the demo, with its box',
  async () => {
    const { triggered, boxes, explanation } = await judgeCondition(
      objects,
      { mode: 'frames', frame: sceneFrame(true) },
      { condition },
      never,
    );
    expect(triggered, explanation).toBe(true);
    const [box] = boxes ?? [];
    expect(box?.label).toBe('stop sign');
    expect(box?.score).toBeGreaterThan(0.6);
    // The sign is drawn at 560 to 788 of 1280 and 200 to 428 of 720 pixels.
    expect([box?.x, box?.y, box?.width, box?.height].map((share) => Math.round((share ?? 0) * 10))).toEqual([
      4, 3, 2, 3,
    ]);
    const empty = await judgeCondition(
      objects,
      { mode: 'frames', frame: sceneFrame(false) },
      { condition },
      never,
    );
    expect(empty, empty.explanation).toMatchObject({ triggered: false });
  },
);

test.skipIf(files === null)('A clip of an eighth of a second is judged', async () => {
  const clip = mp4('color=gray:s=320x180:r=8:d=0.125');
  const verdict = await judgeCondition(
    objects,
    { mode: 'clip', frame: sceneFrame(false), clip },
    { condition: 'a person' },
    never,
  );
  expect(verdict.triggered).toBe(false);
});

test('the color of the sign is measured without a detector', async () => {
  for (const hasSign of [true, false]) {
    const media = { mode: 'frames', frame: sceneFrame(hasSign) } as const;
    const verdict = await judgeCondition(
      measuring,
      media,
      { condition: 'Something red is in the picture' },
      never,
    );
    expect(verdict.triggered, verdict.explanation).toBe(hasSign);
  }
});
