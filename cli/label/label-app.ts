import { Hono } from 'hono';
import { z } from 'zod';
import { exampleName, parseLabelledSet, type Example } from '../../core/evaluation/labelled-set.ts';
import { guardHost, isLoopback } from '../../adapters/http/guard-host.ts';
import { CommandError } from '../command-error.ts';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';

/** Labelled set that is being labelled. Examples are counted from 0 in the order of their lines. */
type SetFile = ReturnType<typeof openSetFile>;

/** The file of the set does not have this example any more. */
class SetChangedError extends Error {
  override name = 'SetChangedError';
}

const lineSchema = z.record(z.string(), z.unknown());

/** Opens the file of a labelled set. Changes of other programs between two calls are kept. */
export function openSetFile(file: string) {
  let last: Promise<void> = Promise.resolve();
  const read = async () => parseLabelledSet(await readFile(file, 'utf8'));
  return {
    examples: async () => (await read()).examples,
    /** Reads the examples, with the lines that cannot be read. */
    read,
    /** Stores the right answer of an example, and keeps all other fields and lines. Throws `SetChangedError`. */
    label: async (index: number, expected: Example['expected']): Promise<void> => {
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

export type LabelAppDeps = {
  set: SetFile;
  /** Name of the set on the page, and in the command that it shows at the end. */
  name: string;
  readFrame: (example: Example) => Promise<Uint8Array>;
  /** Files of the page. */
  files: Hono;
};

const labelSchema = z.object({ expected: z.enum(['yes', 'no', 'unclear']).nullable() });
const indexSchema = z.coerce.number().int().nonnegative();

/**
 * Creates the app of `watchpost label`: the page, the examples of the set, their pictures, and their labels. It has no
 * key: it listens on loopback, rejects other hosts, and accepts JSON only, which pages of other origins cannot send.
 */
export function createLabelApp({ set, name, readFrame, files }: LabelAppDeps) {
  return new Hono()
    .use(guardHost({ acceptsHost: isLoopback }))
    .onError((error, context) => context.json(toProblem(error), 400))
    .get('/', (context) => context.redirect('/console'))
    .route('/', files)
    .get('/label/set', async (context) => {
      const examples = await set.examples();
      return context.json({
        name,
        examples: examples.map((example) => ({
          name: exampleName(example),
          condition: example.condition,
          expected: example.expected,
          verdict: example.verdict ?? null,
        })),
      });
    })
    .get('/label/pictures/:index', async (context) => {
      const index = indexSchema.parse(context.req.param('index'));
      const example = (await set.examples())[index];
      if (!example) return context.notFound();
      const frame = await readFrame(example);
      return context.body(new Uint8Array(frame), 200, {
        'Content-Type': 'image/jpeg',
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
      });
    })
    .put('/label/set/:index', async (context) => {
      if (!context.req.header('Content-Type')?.startsWith('application/json')) return context.text('', 415);
      const { expected } = labelSchema.parse(await context.req.json());
      await set.label(indexSchema.parse(context.req.param('index')), expected);
      return context.json({ expected });
    });
}

function toProblem(error: Error): { message: string; remedy: string } {
  if (error instanceof CommandError) return { message: error.message, remedy: error.remediation };
  if (error instanceof SetChangedError)
    return { message: error.message, remedy: 'Another program changed the set. Reload the page.' };
  return { message: error.message, remedy: 'Check that the set can be read and written, and try again.' };
}
