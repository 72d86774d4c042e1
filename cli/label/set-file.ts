import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { parseLabelledSet, type Example } from '../../core/evaluation/labelled-set.ts';

/** Labelled set that is being labelled. Examples are counted from 0 in the order of their lines. */
export type SetFile = {
  examples: () => Promise<Example[]>;
  /** Reads the examples, with the lines that cannot be read. */
  read: () => Promise<ReturnType<typeof parseLabelledSet>>;
  /** Stores the right answer of an example, and keeps all other fields and lines. Throws `SetChangedError`. */
  label: (index: number, expected: Example['expected']) => Promise<void>;
};

/** The file of the set does not have this example any more. */
export class SetChangedError extends Error {
  override name = 'SetChangedError';
}

const lineSchema = z.record(z.string(), z.unknown());

/** Opens the file of a labelled set. Changes of other programs between two calls are kept. */
export function openSetFile(file: string): SetFile {
  let last: Promise<void> = Promise.resolve();
  const read = async () => parseLabelledSet(await readFile(file, 'utf8'));
  return {
    examples: async () => (await read()).examples,
    read,
    label: async (index, expected) => {
      // One change at a time: a second one would write over the first.
      const change = last.then(async () => storeLabel(file, index, expected));
      last = change.catch(() => undefined);
      return change;
    },
  };
}

async function storeLabel(file: string, index: number, expected: Example['expected']): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split(/\r?\n/);
  const places = lines.flatMap((line, place) => (parseLabelledSet(line).examples.length > 0 ? [place] : []));
  const place = places[index];
  if (place === undefined) throw new SetChangedError(`The set has no example ${index + 1}.`);
  lines[place] = JSON.stringify({ ...lineSchema.parse(JSON.parse(lines[place] ?? '')), expected });
  // A file that is never seen in part, so that an interrupt loses no label; and none that a link leads elsewhere.
  await rm(`${file}.part`, { force: true });
  await writeFile(`${file}.part`, lines.join('\n'), { flag: 'wx' });
  await rename(`${file}.part`, file);
}
