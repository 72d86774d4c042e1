import { z } from 'zod';

/** Messages between the service and the process of the model. The first one says what to load. */
export const loadSchema = z.object({
  /** Module of the runtime, as a path. */
  runtime: z.string(),
  model: z.string(),
  projector: z.string(),
  threads: z.int(),
  contextTokens: z.int(),
});
export type Load = z.infer<typeof loadSchema>;

const requestSchema = z.object({
  id: z.int(),
  system: z.string(),
  text: z.string(),
  /** JPEGs, before the text. */
  pictures: z.array(z.custom<Uint8Array>((value) => value instanceof Uint8Array)),
  /** JSON Schema, which the answer is forced to follow. */
  schema: z.json(),
  maxTokens: z.int(),
});
export type NumberedRequest = z.infer<typeof requestSchema>;
export type ModelRequest = Omit<NumberedRequest, 'id'>;

export const commandSchema = z.union([z.object({ cancel: z.int() }), requestSchema]);

const answerSchema = z.object({
  text: z.string(),
  /** `picture`: one cannot be decoded, `context full`: the request alone is too long; both without text. */
  end: z.enum(['complete', 'token limit', 'context', 'context full', 'picture', 'cancelled']),
  inputTokens: z.int(),
  outputTokens: z.int(),
});
/** Answer of the model, and why it ends. */
export type ModelAnswer = z.infer<typeof answerSchema>;

export const replySchema = z.union([
  z.object({ ready: z.literal(true) }),
  /** Reason of a load that failed. */
  z.object({ failed: z.string() }),
  z.object({ id: z.int(), answer: answerSchema, memoryBytes: z.number() }),
  /** The runtime has not taken the call, and takes no other one. */
  z.object({ id: z.int(), isStuck: z.literal(true) }),
  /** The runtime takes no further call after an error: its process ends. */
  z.object({ id: z.int(), error: z.string() }),
]);
