import { z } from 'zod';
import { VisionError } from '../../core/vision-errors.ts';
import type { TokenUse } from '../../core/records/vision.ts';
import { extractCutJson, extractJson, isOfThoughts } from './extract-json.ts';

/** Task of a model: its prompt and the schema of its answer. */
export type ModelTask<Fields> = {
  /** Name of the answer on the wire: of a tool or a schema. */
  name: string;
  system: string;
  /** Follows the images in the user message. */
  text: string;
  schema: z.ZodType<Fields>;
  /** Schema of an answer that the token limit has cut. Requires the decision alone. */
  cutSchema: z.ZodType<Fields>;
  maxTokens: number;
};

/** Evidence for a model: pictures (JPEG), and a clip (MP4) if it supports video. */
export type Shown = { pictures: Uint8Array[]; clip?: Uint8Array | undefined };

/** Sends a task to a model with what it sees. Each provider has one; it throws `VisionError`. */
export type AskModel = <Fields>(
  task: ModelTask<Fields>,
  shown: Shown,
  signal: AbortSignal,
) => Promise<{ fields: Fields; tokens: TokenUse }>;

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

/** Reason for the end of an answer: the model has finished, its tokens were used up, or its context was full. */
export type AnswerEnd = 'complete' | 'token limit' | 'context';

/** Returns the JSON Schema of a task, without maximum lengths unless `bounded`. */
export function toAnswerSchema(task: ModelTask<unknown>, { bounded = false } = {}): AnswerSchema {
  const schema = z.toJSONSchema(task.schema, {
    override: ({ jsonSchema }) => {
      if (!bounded) delete jsonSchema.maxLength;
    },
  });
  return answerSchemaSchema.parse(schema);
}

/**
 * Parses the answer of a model: an object, or text that ends with one. A cut answer needs its decision only. Throws
 * `VisionError` if it does not match the schema.
 */
export function readAnswer<Fields>(
  task: ModelTask<Fields>,
  answer: unknown,
  end: AnswerEnd = 'complete',
): Fields {
  const stated = typeof answer === 'string' ? extractJson(answer, end !== 'complete') : answer;
  const parsed = task.schema.safeParse(stated);
  if (parsed.success) return parsed.data;
  const [wrapped, ...others] = readWrapped(task, stated);
  if (wrapped !== undefined && others.length === 0) return wrapped;
  const cause = parsed.error;
  if (end === 'complete')
    throw new VisionError(
      'The answer of the model does not match the schema. Try again. If the error persists, use another model.',
      { cause },
    );
  const cut = task.cutSchema.safeParse(typeof answer === 'string' ? extractCutJson(answer) : answer);
  if (cut.success) return cut.data;
  if (end === 'context') throw new ContextError({ cause });
  throw new VisionError(
    `The limit of ${task.maxTokens} tokens cut the answer of the model before it was usable. Use a model that writes shorter answers, or the prompt verdict-first.`,
    { cause },
  );
}

/**
 * Returns the answers that are in a field of an object: small models repeat the schema around the values, or write the
 * call of a tool as text.
 */
function readWrapped<Fields>({ schema }: ModelTask<Fields>, stated: unknown): Fields[] {
  const fields = Object.entries(z.looseObject({}).safeParse(stated).data ?? {}).filter(
    ([name]) => !isOfThoughts(name),
  );
  return fields.flatMap(([, value]) => {
    const { success, data } = schema.safeParse(typeof value === 'string' ? extractJson(value) : value);
    return success ? [data] : [];
  });
}

/** Reads an answer that has used tokens: an error states those that are used up to it, because they are paid. */
export async function withTokens<Value>(used: TokenUse, read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof VisionError) error.calls = [{ ...used, failed: true }];
    throw error;
  }
}

/** Error of a request that does not fit into the context of the model. Repeating it cannot help. */
export class ContextError extends VisionError {
  override name = 'ContextError';

  constructor(options?: ErrorOptions) {
    super(
      'Pictures and answer do not fit into the context of the model. Raise the context (local: WATCHPOST_LOCAL_CONTEXT, llama.cpp: -c, with -np 1, Ollama: OLLAMA_CONTEXT_LENGTH, vLLM: --max-model-len), lower WATCHPOST_VISION_WIDTH, or use a model with a larger context.',
      options,
    );
  }
}

/** Error of a request with more pictures than the server takes. */
export class PictureCountError extends VisionError {
  override name = 'PictureCountError';
}
