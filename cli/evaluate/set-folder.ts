import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { CommandError } from '../command-error.ts';

/**
 * Returns the path of an existing file or folder of a set, without symbolic links. A set can come from a stranger, so it names only what is inside its
 * folder. Throws `CommandError` for all else.
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
