import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { verdictSchema, type Verdict } from '../../core/records/vision.ts';
import type { CheckMedia, VisionModel } from '../../core/ports/vision-model.ts';

/** Model that remembers its verdicts, with the number of those that were remembered. */
export type CachedVision = VisionModel & { remembered: () => number };

/** Change it when prompts or built-in models change their answers. */
const format = 1;

/**
 * Returns a model that stores its verdicts in a folder, by frame, condition and model: a second run with the same frames costs nothing. An
 * unreadable verdict is requested again.
 */
export function createCachedVision(vision: VisionModel, folder: string): CachedVision {
  let remembered = 0;
  return {
    provider: vision.provider,
    model: vision.model,
    supportsVideo: vision.supportsVideo,
    remembered: () => remembered,
    judge: async (media, condition, signal) => {
      const file = join(folder, `${verdictKey(vision, media, condition)}.json`);
      const known = await readVerdict(file);
      if (known) {
        remembered += 1;
        return known;
      }
      const verdict = await vision.judge(media, condition, signal);
      await writeVerdict(folder, file, verdict).catch(() => undefined);
      return verdict;
    },
    answer: async (frame, question, signal) => vision.answer(frame, question, signal),
    summarize: async (samples, signal) => vision.summarize(samples, signal),
  };
}

function verdictKey(
  { provider, model }: VisionModel,
  { mode, frame, clip, regions }: CheckMedia,
  condition: string,
): string {
  const hash = createHash('sha256').update(
    JSON.stringify([format, provider, model, mode, condition, ...(regions ?? [])]),
  );
  hash.update(frame);
  if (clip) hash.update(clip);
  return hash.digest('hex');
}

async function readVerdict(file: string): Promise<Verdict | undefined> {
  try {
    return verdictSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Writes a file that is never seen in part: an interrupt leaves a temporary one. */
async function writeVerdict(folder: string, file: string, verdict: Verdict): Promise<void> {
  await mkdir(folder, { recursive: true });
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, JSON.stringify(verdict));
  await rename(temporary, file);
}
