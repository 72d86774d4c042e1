import type { ObjectClass } from '../../../../adapters/vision/objects/classes.ts';
import type { Detection } from '../../../../adapters/vision/objects/detector.ts';
import { createObjectsVision } from '../../../../adapters/vision/objects/objects-vision.ts';
import type { PictureDecoder } from '../../../../adapters/vision/pixel/image-decoder.ts';
import { judgeCondition } from '../../../../core/ports/vision-model.ts';

export const never = new AbortController().signal;
const grey = [128, 128, 128];

/** Returns a detection of an object. */
export const object = (name: ObjectClass, score: number, x = 0.1): Detection => ({
  object: name,
  score,
  box: { x, y: 0.2, width: 0.2, height: 0.5 },
});

/** Creates the model with pictures of one tone. Each picture has the objects of its number, the frame those of 0. */
export function modelThatSees(
  pictures: Detection[][],
  { tone = grey, levels }: { tone?: number[]; levels?: number[] } = {},
) {
  const seen: number[] = [];
  const fill = (size: { width: number; height: number }, color: number[], number: number) => {
    const rgb = new Uint8Array(size.width * size.height * 3).map((_, at) => color[at % 3] ?? 0);
    rgb[0] = number;
    return rgb;
  };
  const decoder: PictureDecoder = {
    decode: async (_, size) => fill(size, tone, 0),
    decodeEach: async (frames, size) => frames.map((_, at) => fill(size, tone, at)),
    // Four pictures per second, of which the object model takes every second one.
    decodeClip: async (_, size) =>
      (levels ?? pictures.slice(1).map(() => 128)).flatMap((level, at) =>
        [at + 1, at + 1].map((number) => fill(size, [level, level, level], number)),
      ),
  };
  const model = createObjectsVision({
    decoder,
    detector: {
      inputSize: () => ({ width: 64, height: 36 }),
      detect: async ({ rgb }) => {
        seen.push(rgb[0] ?? 0);
        return pictures[rgb[0] ?? 0] ?? [];
      },
      close: async () => undefined,
    },
  });
  return { model, decoder, seen };
}

/** Judges pictures of these objects: the frame first, then those of the clip. */
export const judge = async (condition: string, ...pictures: Detection[][]) =>
  judgeCondition(
    modelThatSees(pictures).model,
    {
      mode: pictures.length > 1 ? 'clip' : 'frames',
      frame: new Uint8Array(),
      ...(pictures.length > 1 ? { clip: new Uint8Array() } : {}),
    },
    { condition },
    never,
  );
