import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { z } from 'zod';
import { commandSchema, type Load, loadSchema, type ModelAnswer, type NumberedRequest } from './protocol.ts';

// Process of the model: native code can end it at any time, by a broken file or too little memory. It handles one
// request after the other.

/** Used part of `@fugood/llama.node`, which need not be installed. */
type Runtime = { loadModel(options: object): Promise<unknown> };
type Context = {
  initMultimodal(options: { path: string }): boolean;
  getMultimodalSupport(): { vision: boolean };
  getFormattedChat(messages: object[], template: undefined, options: object): unknown;
  tokenize(text: string, media: { media_paths: string[] }): Promise<{ tokens: ArrayLike<number> }>;
  completion(options: object): Promise<unknown>;
  stopCompletion(): void;
};

const completionSchema = z.object({
  text: z.string(),
  tokens_evaluated: z.int(),
  tokens_predicted: z.int(),
  context_full: z.boolean(),
  interrupted: z.boolean(),
  stopped_eos: z.boolean().default(false),
  stopped_words: z.boolean().default(false),
});
const chatSchema = z.object({ prompt: z.string() });

let context: Context | undefined;
let contextTokens = 0;
let running: number | undefined;
/** Newest request that was cancelled: one runs at a time. */
let cancelled: number | undefined;

async function load(options: Load): Promise<void> {
  const { loadModel } = z
    .object({ loadModel: z.custom<Runtime['loadModel']>((value) => typeof value === 'function') })
    .parse(await import(options.runtime));
  const loaded = await loadModel({
    model: options.model,
    n_ctx: options.contextTokens,
    n_threads: options.threads,
    n_parallel: 1,
    // A prompt that is longer than the context is refused, not shortened.
    ctx_shift: false,
  });
  const opened = z
    .custom<Context>((value) => typeof value === 'object' && value !== null && 'initMultimodal' in value)
    .parse(loaded);
  if (!opened.initMultimodal({ path: options.projector }) || !opened.getMultimodalSupport().vision)
    throw new Error('The projector takes no pictures');
  context = opened;
  contextTokens = options.contextTokens;
}

async function answer(model: Context, request: NumberedRequest): Promise<ModelAnswer> {
  const pictures = request.pictures.map(
    (jpeg) => `data:image/jpeg;base64,${Buffer.from(jpeg).toString('base64')}`,
  );
  const messages = [
    { role: 'system', content: request.system },
    {
      role: 'user',
      content: [
        ...pictures.map((url) => ({ type: 'image_url', image_url: { url } })),
        { type: 'text', text: request.text },
      ],
    },
  ];
  const options = {
    jinja: true,
    enable_thinking: false,
    response_format: { type: 'json_schema', json_schema: { strict: true, schema: request.schema } },
  };
  const { prompt } = chatSchema.parse(model.getFormattedChat(messages, undefined, options));
  const none = { text: '', inputTokens: 0, outputTokens: 0 };
  // The runtime takes no further call after a prompt that it refuses. Its tokens and pictures are read before.
  const tokens = await model.tokenize(prompt, { media_paths: pictures }).catch(() => undefined);
  if (tokens === undefined) return { ...none, end: 'picture' };
  if (tokens.tokens.length + 1 >= contextTokens) return { ...none, end: 'context full' };
  if (cancelled === request.id) return { ...none, end: 'cancelled' };
  const completion = model.completion({ messages, ...options, temperature: 0, n_predict: request.maxTokens });
  const done = completionSchema.parse(await completion);
  return {
    text: done.text,
    end: toEnd(done),
    inputTokens: Math.max(0, done.tokens_evaluated - done.tokens_predicted),
    outputTokens: done.tokens_predicted,
  };
}

function toEnd(done: z.infer<typeof completionSchema>): ModelAnswer['end'] {
  if (done.interrupted) return 'cancelled';
  if (done.context_full) return 'context';
  return done.stopped_eos || done.stopped_words ? 'complete' : 'token limit';
}

async function handle(message: unknown): Promise<void> {
  if (context === undefined) {
    try {
      await load(loadSchema.parse(message));
      process.send?.({ ready: true });
    } catch (error) {
      process.send?.({ failed: String(error) }, () => process.disconnect());
    }
    return;
  }
  const command = commandSchema.parse(message);
  if ('cancel' in command) {
    cancelled = command.cancel;
    if (running === command.cancel) context.stopCompletion();
    return;
  }
  running = command.id;
  try {
    const given = await answer(context, command);
    const { rss: memoryBytes } = process.memoryUsage();
    process.send?.({ id: command.id, answer: given, memoryBytes });
  } catch (error) {
    // llama.node 1.7.15 never notices the end of a call that is shorter than the start of its thread
    // (LlamaContext::Completion).
    const isStuck = String(error).includes('Another completion is in progress');
    process.send?.({ id: command.id, ...(isStuck ? { isStuck } : { error: String(error) }) }, () =>
      process.disconnect(),
    );
  } finally {
    running = undefined;
  }
}

/** Prefers captures to the model, and the model to the service where memory is short. */
function yieldToService(): void {
  try {
    setPriority(5);
    writeFileSync('/proc/self/oom_score_adj', '900');
  } catch {
    // Another system, or no permission.
  }
}

yieldToService();
process.on('message', (message) => void handle(message));
// The service has ended, or the runtime takes no further call.
process.on('disconnect', () => process.exit(0));
