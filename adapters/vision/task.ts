import { z } from 'zod';
import { VisionError } from '../../core/errors.ts';

/** Task of a model: its prompt and the schema of its answer. */
export type ModelTask<Fields> = {
  /** Name of the answer on the wire: of a tool or a schema. */
  name: string;
  system: string;
  /** Follows the images in the user message. */
  text: string;
  schema: z.ZodType<Fields>;
  maxTokens: number;
};

/** Part of JSON Schema that every provider supports. Nova allows only these three keys at the top. */
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

/** Returns the JSON Schema of a task. */
export function toAnswerSchema(task: ModelTask<unknown>): AnswerSchema {
  return answerSchemaSchema.parse(z.toJSONSchema(task.schema));
}

/** Parses the answer of a model. Throws `VisionError` if it does not match the schema. */
export function readAnswer<Fields>(task: ModelTask<Fields>, answer: unknown): Fields {
  const parsed = task.schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new VisionError(
    'The answer of the model does not match the schema. Try again. If the error persists, use another model.',
    { cause: parsed.error },
  );
}
