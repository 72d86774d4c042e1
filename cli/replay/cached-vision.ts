import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  evidenceBoxSchema,
  promptVersionSchema,
  shownAtSchema,
  tokenUseSchema,
  verdictSchema,
} from '../../core/records/vision.ts';
import type { CheckMedia, MomentFrame, VisionModel } from '../../core/ports/vision-model.ts';

/** Model that remembers its verdicts, with the number of those that were remembered. */
export type CachedVision = VisionModel & { remembered: () => number };

/** Change it when prompts or built-in models change their answers. */
const format = 7;

const verdictsSchema = z.array(
  z.object({
    condition_id: z.string(),
    triggered: z.boolean().nullable(),
    explanation: z.string(),
    boxes: z.array(evidenceBoxSchema).optional(),
    shown_at_seconds: shownAtSchema.optional(),
    prompt_version: promptVersionSchema.optional(),
  }),
);
const conditionVerdictsSchema = z.object({ verdicts: verdictsSchema, tokens: tokenUseSchema });
const momentVerdictsSchema = z.object({ moments: z.array(verdictsSchema), tokens: tokenUseSchema });

/**
 * Returns a model that stores its verdicts in a folder, by frame, condition and model: a second run with the same frames costs nothing. An
 * unreadable verdict is requested again. `variant` names the settings that change its answers, such as prompt and width.
 */
export function createCachedVision(vision: VisionModel, folder: string, variant: unknown): CachedVision {
  const judgeConditions = vision.judgeConditions?.bind(vision);
  const judgeMoments = vision.judgeMoments?.bind(vision);
  let remembered = 0;

  async function recall<Answer>(key: string, schema: z.ZodType<Answer>, ask: () => Promise<Answer>) {
    const file = join(folder, `${key}.json`);
    const known = await readStored(file, schema);
    if (known !== undefined) {
      remembered += 1;
      return known;
    }
    const answer = await ask();
    await store(folder, file, answer).catch(() => undefined);
    return answer;
  }

  return {
    ...vision,
    remembered: () => remembered,
    judge: async (media, condition, signal) =>
      recall(hashKey(vision, variant, media, condition), verdictSchema, async () =>
        vision.judge(media, condition, signal),
      ),
    ...(judgeConditions && {
      judgeConditions: async (media, conditions, signal) =>
        recall(hashKey(vision, variant, media, conditions), conditionVerdictsSchema, async () =>
          judgeConditions(media, conditions, signal),
        ),
    }),
    ...(judgeMoments && {
      judgeMoments: async (frames, conditions, options, signal) =>
        recall(hashMoments(vision, variant, frames, conditions, options), momentVerdictsSchema, async () =>
          judgeMoments(frames, conditions, options, signal),
        ),
    }),
  };
}

/** Returns the name of an answer: `asked` is the condition, or the conditions of a joint call with their ids. */
function hashKey(
  { provider, model }: VisionModel,
  variant: unknown,
  { mode, frame, clip, previous, regions, sensitivity }: CheckMedia,
  asked: unknown,
): string {
  const hash = createHash('sha256').update(
    JSON.stringify([
      format,
      provider,
      model,
      variant,
      mode,
      asked,
      ...(regions ?? []),
      ...(sensitivity === 'high' ? [sensitivity] : []),
    ]),
  );
  hash.update(frame);
  if (clip) hash.update(clip);
  if (previous) hash.update('previous').update(previous);
  return hash.digest('hex');
}

/** Returns the name of an answer about several frames, by the time between them. */
function hashMoments(
  model: VisionModel,
  variant: unknown,
  frames: readonly MomentFrame[],
  conditions: unknown,
  options: Pick<CheckMedia, 'regions' | 'previous'>,
): string {
  const newest = frames.at(-1)?.at.getTime() ?? 0;
  const hash = createHash('sha256').update('moments');
  for (const { frame, at } of frames)
    hash.update(
      hashKey(model, variant, { mode: 'frames', frame, ...options }, [conditions, newest - at.getTime()]),
    );
  return hash.digest('hex');
}

async function readStored<Answer>(file: string, schema: z.ZodType<Answer>): Promise<Answer | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Writes a file that is never seen in part: an interrupt leaves a temporary one. */
async function store(folder: string, file: string, answer: unknown): Promise<void> {
  await mkdir(folder, { recursive: true });
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, JSON.stringify(answer));
  await rename(temporary, file);
}
