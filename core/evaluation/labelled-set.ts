import { z } from 'zod';
import { parseJson } from '../parse-json.ts';

const labelled = {
  /** Name of the example in reports; default: its image or span. */
  id: z.string().min(1).max(200).optional(),
  condition: z.string().min(1).max(1000),
  /** Right answer; `null`: not labelled yet. */
  expected: z.enum(['yes', 'no', 'unclear']).nullable(),
  /** Kinds of examples, to evaluate a part of the set. */
  tags: z.array(z.string()).default([]),
  note: z.string().optional(),
  /** Verdict of the model that recorded the example; shown beside the label, not evaluated. */
  verdict: z.object({ triggered: z.boolean(), explanation: z.string() }).optional().catch(undefined),
};

const pictureExampleSchema = z.object({ ...labelled, picture: z.string().min(1) });
const videoExampleSchema = z
  .object({
    ...labelled,
    video: z.string().min(1),
    from_seconds: z.number().nonnegative(),
    to_seconds: z.number().positive(),
  })
  .refine(({ from_seconds: from, to_seconds: to }) => from < to, {
    error: 'from_seconds must be less than to_seconds',
    path: ['to_seconds'],
  });

/**
 * Line of a labelled set: an image or a span of a video, a condition and the right answer. Paths are relative to the
 * file of the set. Other fields are ignored, so that a recorder of verdicts can add its own.
 */
export const exampleSchema = z.union([pictureExampleSchema, videoExampleSchema]);
export type Example = z.infer<typeof exampleSchema>;

export function exampleName(example: Example): string {
  if (example.id !== undefined) return example.id;
  if ('picture' in example) return example.picture;
  return `${example.video} ${example.from_seconds}-${example.to_seconds} s`;
}

/** Line that cannot be read, with its number from 1 and the reason. */
export type SetProblem = { line: number; message: string };

/** Parses JSON Lines. Blank lines are ignored. */
export function parseLabelledSet(text: string): { examples: Example[]; problems: SetProblem[] } {
  const examples: Example[] = [];
  const problems: SetProblem[] = [];
  // Some editors begin a file with a byte order mark.
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (line.trim() === '') continue;
    const parsed = exampleSchema.safeParse(parseJson(line));
    if (parsed.success) examples.push(parsed.data);
    else problems.push({ line: index + 1, message: describe(parsed.error) });
  }
  return { examples, problems };
}

function describe(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue?.code === 'invalid_union')
    return 'it needs picture, or video with from_seconds and to_seconds; condition; and expected: "yes", "no", "unclear" or null';
  return `${issue?.path.join('.') || 'the line'}: ${issue?.message ?? 'invalid'}`;
}
