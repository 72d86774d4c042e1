import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseLabelledSet, type Example } from '../../core/evaluation/labelled-set.ts';
import { CommandError } from '../command-error.ts';

/** Labelled set with the folder of its images and videos. `unlabelled` counts lines without a right answer. */
export type LabelledSet = { folder: string; examples: LabelledExample[]; unlabelled: number };
export type LabelledExample = Example & { expected: 'yes' | 'no' | 'unclear' };

/** Built-in drawn set: colors, counts, and images whose text contains instructions. */
const basicSet = join(import.meta.dirname, 'basic-set');
const setFile = 'set.jsonl';
const shownProblems = 5;

/**
 * Reads a labelled set: a JSON Lines file, a folder with `set.jsonl`, or `basic` for the built-in set. `tag` selects
 * examples. Throws `CommandError` with the invalid lines.
 */
export async function readLabelledSet(path: string, tag?: string): Promise<LabelledSet> {
  const file = await findSetFile(path === 'basic' ? basicSet : resolve(path));
  const { examples, problems } = parseLabelledSet(await readFile(file, 'utf8'));
  if (problems.length > 0) {
    const lines = problems.slice(0, shownProblems).map(({ line, message }) => `line ${line}: ${message}`);
    throw new CommandError(
      `${file} has ${problems.length} invalid ${problems.length === 1 ? 'line' : 'lines'}. ${lines.join('; ')}`,
      'Mend the lines. docs/use/evaluate.md has the format.',
    );
  }
  const selected = examples.filter(({ tags }) => tag === undefined || tags.includes(tag));
  const labelled = selected.flatMap((example) =>
    example.expected === null ? [] : [{ ...example, expected: example.expected }],
  );
  if (labelled.length === 0)
    throw new CommandError(
      `${file} has no labelled example${tag === undefined ? '' : ` with the tag ${tag}`}.`,
      `Label it in the browser: npm run watchpost -- label ${path}. Or set expected to "yes", "no" or "unclear" in its lines.`,
    );
  return { folder: dirname(file), examples: labelled, unlabelled: selected.length - labelled.length };
}

/** Returns the file of a set: the path, or `set.jsonl` in it. Throws `CommandError` if it does not exist. */
export async function findSetFile(path: string): Promise<string> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats) throw missing(path);
  if (!stats.isDirectory()) return path;
  const file = join(path, setFile);
  if (!(await stat(file).catch(() => undefined))) throw missing(file);
  return file;
}

function missing(path: string): CommandError {
  return new CommandError(
    `${path} does not exist.`,
    'Name a JSON Lines file, a folder with set.jsonl, or basic for the set that is part of Watchpost.',
  );
}
