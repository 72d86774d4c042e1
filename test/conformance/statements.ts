import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const statementSchema = z.strictObject({
  id: z.string().regex(/^[IW]-[\d.]+$/),
  /** Quotes of the interface, with what stands between them. */
  text: z.string(),
  /** Decision of this project where the interface leaves a choice. */
  decision: z.string().optional(),
  /** Tests of behavior that is invisible from outside or takes an hour. Cases name their statements themselves. */
  tests: z.array(z.strictObject({ file: z.string(), title: z.string() })).default([]),
});

/** Statement of the interface, or of the design of watches. */
export type Statement = z.infer<typeof statementSchema>;

export const statements = z
  .array(statementSchema)
  .parse(parse(readFileSync(join(import.meta.dirname, 'statements.yaml'), 'utf8')));
