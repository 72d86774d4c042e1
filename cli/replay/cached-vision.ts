import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ConditionQuestion,
  type MomentVerdicts,
  momentVerdictsSchema,
} from '../../core/records/vision.ts';
import type { CheckMedia, VisionModel } from '../../core/ports/vision-model.ts';

/** Model that remembers its verdicts, with the number of those that were remembered. */
export type CachedVision = VisionModel & { remembered: () => number };

/** Change it when prompts or built-in models change their answers. */
const format = 8;

/**
 * Returns a model that stores its verdicts in a folder, by frame, condition and model: a second run with the same
 * frames costs nothing. An unreadable verdict is requested again. `variant` names the settings that change its answers,
 * such as prompt and width.
 */
export function createCachedVision(vision: VisionModel, folder: string, variant: unknown): CachedVision {
  let remembered = 0;
  return {
    ...vision,
    remembered: () => remembered,
    async judge(media, questions, signal) {
      const file = join(folder, `${hashCall(vision, variant, media, questions)}.json`);
      const stored = await readStored(file);
      if (stored !== undefined) {
        remembered += 1;
        return stored;
      }
      const answer = await vision.judge(media, questions, signal);
      await store(folder, file, answer).catch(() => undefined);
      return answer;
    },
  };
}

/** Returns the name of an answer, by all that the model is given. */
function hashCall(
  { provider, model }: VisionModel,
  variant: unknown,
  { frame, clip, previous, earlier = [], ...media }: CheckMedia,
  questions: readonly ConditionQuestion[],
): string {
  const times = earlier.map(({ secondsBefore }) => secondsBefore);
  const pictures = [frame, clip, previous, ...earlier.map((before) => before.frame)];
  const asked = questions.map(({ condition_id, condition, sensitivity }) => [
    condition_id,
    condition,
    sensitivity,
  ]);
  const hash = createHash('sha256');
  hash.update(JSON.stringify([format, provider, model, variant, media, times, asked]));
  for (const bytes of pictures) hash.update(`${bytes?.length ?? 'none'}`).update(bytes ?? '');
  return hash.digest('hex');
}

async function readStored(file: string): Promise<MomentVerdicts | undefined> {
  try {
    return momentVerdictsSchema.parse(JSON.parse(await readFile(file, 'utf8')));
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
