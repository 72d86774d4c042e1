import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReplayCheck } from './play.ts';

/**
 * Saves judged frames and their verdicts as a set to label: `set.jsonl` with `expected: null`, and the images in `frames/`. Omits checks
 * without a verdict.
 */
export async function openSet(
  folder: string,
): Promise<(check: ReplayCheck, condition: string, frame: Uint8Array) => Promise<void>> {
  await mkdir(join(folder, 'frames'), { recursive: true });
  const file = join(folder, 'set.jsonl');
  await writeFile(file, '');
  return async ({ seconds, condition_id, triggered, explanation }, condition, frame) => {
    if (triggered === null) return;
    const picture = `frames/${seconds.toFixed(1).padStart(9, '0')}.jpg`;
    await writeFile(join(folder, picture), frame);
    const id = `${condition_id} at ${seconds.toFixed(1)} s`;
    const line = { id, picture, condition, expected: null, verdict: { triggered, explanation } };
    await appendFile(file, `${JSON.stringify(line)}\n`);
  };
}
