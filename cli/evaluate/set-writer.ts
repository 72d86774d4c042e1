import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile, writeFile, realpath } from 'node:fs/promises';
import { join, isAbsolute, relative, resolve, sep } from 'node:path';
import { parseLabelledSet } from '../../core/evaluation/labelled-set.ts';
import { CommandError } from '../command-error.ts';

/** Example to add: a frame and what else its line has. */
export type NewExample = {
  id: string;
  condition: string;
  expected: 'yes' | 'no' | null;
  frame: Uint8Array;
  verdict?: { triggered: boolean; explanation: string };
  note?: string;
};

/**
 * Opens a folder to which examples are added: lines in `set.jsonl`, pictures in `frames/` under the hash of their
 * bytes. A picture whose condition is in the set already is left out, so that labels survive a second run. `add`
 * returns true if it added a line.
 */
export async function openSetWriter(folder: string): Promise<(example: NewExample) => Promise<boolean>> {
  await mkdir(join(folder, 'frames'), { recursive: true });
  const frames = await resolveInSet(folder, 'frames');
  // A set that exists can hold links, which would lead what is written elsewhere.
  await appendFile(join(folder, 'set.jsonl'), '', { flag: 'ax' }).catch(ignoreExisting);
  const file = await resolveInSet(folder, 'set.jsonl');
  const { examples } = parseLabelledSet(await readFile(file, 'utf8'));
  const keptIds = new Set(
    examples.flatMap((example) => ('picture' in example ? [toKey(example.picture, example.condition)] : [])),
  );
  return async ({ frame, ...line }) => {
    const name = `${createHash('sha256').update(frame).digest('hex').slice(0, 16)}.jpg`;
    const picture = `frames/${name}`;
    const key = toKey(picture, line.condition);
    if (keptIds.has(key)) return false;
    keptIds.add(key);
    await writeFile(join(frames, name), frame, { flag: 'wx' }).catch(ignoreExisting);
    await appendFile(file, `${JSON.stringify({ ...line, picture })}\n`);
    return true;
  };
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
}

function toKey(picture: string, condition: string): string {
  return `${picture}\n${condition}`;
}

/**
 * Returns the path of an existing file or folder of a set, without symbolic links. A set can come from a stranger, so
 * it names only what is inside its folder. Throws `CommandError` for all else.
 */
export async function resolveInSet(folder: string, name: string): Promise<string> {
  const path = await realpath(resolve(folder, name)).catch((cause: unknown) => {
    throw new CommandError(
      `${resolve(folder, name)} cannot be read.`,
      'Paths are relative to the file of the set.',
      { cause },
    );
  });
  const inside = relative(await realpath(folder), path);
  if (inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)) return path;
  throw new CommandError(
    `${name} is outside of the folder of the set.`,
    'Copy the file into the folder: a set may name only files inside it, also by symbolic links.',
  );
}
