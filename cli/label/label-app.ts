import { Hono } from 'hono';
import { z } from 'zod';
import { exampleName, type Example } from '../../core/evaluation/labelled-set.ts';
import { guardHost, isLoopback } from '../../adapters/http/guard-host.ts';
import { CommandError } from '../command-error.ts';
import { SetChangedError, type SetFile } from './set-file.ts';

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
 * Creates the app of `watchpost label`: the page, the examples of the set, their pictures, and their labels. It has no key: it
 * listens on loopback, rejects other hosts, and accepts JSON only, which pages of other origins cannot send.
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
