import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { objectClasses } from '../../../../adapters/vision/objects/classes.ts';
import { type Detection, DetectorError } from '../../../../adapters/vision/objects/detector.ts';
import { createGatedVision } from '../../../../adapters/vision/gate/gated-vision.ts';
import type { VisionModel } from '../../../../core/ports/vision-model.ts';

/**
 * Scenes of public footage (`intel-iot-devkit/sample-videos`), without their pictures: what the network detects in a
 * frame, and what people see in it. A detection is a class, a score, and the left, top, width and height of its box.
 */
const sceneSchema = z.object({
  clip: z.string(),
  seconds: z.number(),
  persons: z.int(),
  cars: z.int().default(0),
  bicycles: z.int().default(0),
  detections: z.array(
    z.tuple([z.enum(objectClasses), z.number(), z.number(), z.number(), z.number(), z.number()]),
  ),
});
export type Scene = z.infer<typeof sceneSchema>;

export const scenes = readFileSync(new URL('scenes.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => sceneSchema.parse(JSON.parse(line)));

const toDetection = ([object, score, x, y, width, height]: Scene['detections'][number]): Detection => ({
  object,
  score,
  box: { x, y, width, height },
});

/** Returns the frame of a scene, as `gateThatSees` reads it. */
export const frameOf = (index: number) => new Uint8Array([index]);

/** Puts a gate before a model. Its network detects in frame `n` what belongs to it, in a picture of two tones. */
export function gateThatSees(
  vision: VisionModel,
  seen: readonly Detection[][],
  { tones = [40, 220] }: { tones?: number[] } = {},
) {
  const detected: number[] = [];
  const reports: string[] = [];
  const picture = (frame: Uint8Array, { width, height }: { width: number; height: number }) => {
    const rgb = new Uint8Array(width * height * 3).map(
      (_, at) => tones[Math.floor(at / 3) % tones.length] ?? 0,
    );
    rgb[0] = frame[0] ?? 0;
    return rgb;
  };
  const gate = createGatedVision({
    vision,
    report: (text) => reports.push(text),
    decoder: {
      decode: async (frame, size) => picture(frame, size),
      decodeEach: async (frames, size) => frames.map((frame) => picture(frame, size)),
      decodeClip: async (clip, size) => [...clip].map((number) => picture(new Uint8Array([number]), size)),
    },
    detector: {
      inputSize: () => ({ width: 64, height: 36 }),
      detect: async ({ rgb }) => {
        const found = seen[rgb[0] ?? 0];
        if (found === undefined) throw new DetectorError('The object detector stopped');
        detected.push(rgb[0] ?? 0);
        return found;
      },
      close: async () => undefined,
    },
  });
  return { gate, detected, reports };
}

export const detectionsOf = (scene: Scene) => scene.detections.map(toDetection);
