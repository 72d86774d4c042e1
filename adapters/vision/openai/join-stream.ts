import { z } from 'zod';
import { parseJson } from '../../../core/parse-json.ts';

const textSchema = z.string().nullish().catch(null);
const messageSchema = z.object({
  content: textSchema,
  reasoning: textSchema,
  reasoning_content: textSchema,
  refusal: textSchema,
});
const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().catch(0),
        delta: messageSchema.nullish().catch(null),
        message: messageSchema.nullish().catch(null),
        finish_reason: z.unknown().optional(),
      }),
    )
    .nullish()
    .catch(null),
  error: z.unknown().optional(),
  usage: z.unknown().optional(),
});
type Chunk = z.infer<typeof chunkSchema>;
type Message = z.infer<typeof messageSchema>;

/**
 * Returns the completion that a server streams although the request says `stream: false`
 * (github.com/unslothai/unsloth/issues/6570), as the JSON that it should be; any other body unchanged. An error in the
 * stream is the error of the completion.
 */
export function joinStream(body: string): string {
  if (!/^\s*(?::|(?:data|event|id|retry):)/.test(body)) return body;
  const chunks = body.split(/\r?\n\r?\n/).flatMap(readChunks);
  if (chunks.length === 0) return body;
  const all = chunks.flatMap((chunk) => chunk.choices ?? []);
  const first = all.reduce((least, { index }) => Math.min(least, index), Infinity);
  // Some gateways number the parts of one choice.
  const hasSeveral = chunks.some((chunk) => (chunk.choices?.length ?? 0) > 1);
  const choices = hasSeveral ? all.filter(({ index }) => index === first) : all;
  const deltas = choices.flatMap(({ delta }) => delta ?? []);
  const whole = choices.flatMap(({ message }) => message ?? []).slice(-1);
  const parts = deltas.length > 0 ? deltas : whole;
  const message = {
    content: join(parts, 'content'),
    reasoning: join(parts, 'reasoning') ?? join(parts, 'reasoning_content'),
    refusal: join(parts, 'refusal'),
  };
  const error = chunks.findLast((chunk) => chunk.error)?.error;
  const usage = chunks.findLast((chunk) => chunk.usage)?.usage;
  const finish = choices.findLast(({ finish_reason: reason }) => reason)?.finish_reason;
  // The parts before an error are no answer.
  if (error && !finish) return JSON.stringify({ error, usage });
  return JSON.stringify({ choices: choices.length > 0 ? [{ message, finish_reason: finish }] : [], usage });
}

/**
 * Reads an event: its lines of data are one JSON, or one each for servers that leave out the empty line. `[DONE]` is no
 * JSON.
 */
function readChunks(event: string): Chunk[] {
  const lines = event
    .split(/\r?\n/)
    .filter((line) => !/^(?:event|id|retry|):/.test(line))
    .map((line) => line.replace(/^data: ?/, ''));
  const whole = parseChunk(lines.join('\n'));
  return whole ? [whole] : lines.flatMap((line) => parseChunk(line) ?? []);
}

function parseChunk(text: string): Chunk | undefined {
  return chunkSchema.safeParse(parseJson(text)).data;
}

/** Joins a field of the parts of a message; null if none has it. */
function join(parts: readonly Message[], name: keyof Message): string | null {
  const texts = parts.flatMap((part) => part[name] ?? []);
  return texts.length > 0 ? texts.join('') : null;
}
