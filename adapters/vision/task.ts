import { z } from 'zod';
import { VisionError } from '../../core/errors.ts';

/** One thing asked of a model: what it is told, and the shape that its answer must have. */
export type Task<Fields> = {
  /** Names the answer on the wire: a tool's name, a schema's name. */
  name: string;
  system: string;
  /** Goes behind the pictures, in the user's turn. */
  text: string;
  schema: z.ZodType<Fields>;
  maxTokens: number;
};

/** The part of JSON Schema that every provider takes: Nova allows nothing at the top but these three. */
export type AnswerSchema = {
  type: 'object';
  properties: Record<string, z.core.util.JSONType>;
  required: string[];
};

const answerSchemaSchema = z.object({
  type: z.literal('object'),
  properties: z.record(z.string(), z.json()),
  required: z.array(z.string()),
});

export function answerSchemaOf(task: Task<unknown>): AnswerSchema {
  return answerSchemaSchema.parse(z.toJSONSchema(task.schema));
}

/** Throws `VisionError` for what does not fit. */
export function readAnswer<Fields>(task: Task<Fields>, answer: unknown): Fields {
  const parsed = task.schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new VisionError(
    'The model answered in a shape that does not fit. Try again; if it persists, use another model.',
    { cause: parsed.error },
  );
}
