import { ModelBusyError, VisionError } from '../../../core/vision-errors.ts';
import type { StreamTurn, StreamTurns } from '../../../core/ports/stream-capturer.ts';
import type { VisionModel } from '../../../core/ports/vision-model.ts';
import { readJpegHeader } from '../../../core/stream/jpeg.ts';
import type { ReportWait } from '../../fair-queue.ts';
import { createPromptedVision, type PromptedVisionSettings } from '../prompted-vision.ts';
import {
  type AskModel,
  ContextError,
  readAnswer,
  toAnswerSchema,
  type ModelTask,
  withTokens,
} from '../task.ts';
import type { ModelHost } from './model-host.ts';
import type { ModelAnswer, ModelRequest } from './protocol.ts';

export type LocalVisionDeps = Pick<PromptedVisionSettings, 'model' | 'sheets' | 'prompt'> & {
  host: ModelHost;
  /** One call at a time; waiting callers take turns. */
  turns: StreamTurns;
  currentCaller?: () => string;
  reportWait?: ReportWait;
};

/** Largest picture that is decoded. Those of captures have 0.5 megapixels, uploaded ones may have more. */
const maxPixels = 40e6;

/** Creates a vision model on a model of this machine, in a process of its own. Its calls throw `VisionError`. */
export function createLocalVision({ host, model, sheets, prompt, ...deps }: LocalVisionDeps): VisionModel {
  return createPromptedVision({
    provider: 'local',
    model,
    ask: createLocalChat(host, deps),
    sheets,
    prompt,
    callsAtOnce: 1,
    lifecycle: host,
  });
}

function createLocalChat(
  host: ModelHost,
  {
    turns,
    currentCaller = () => '',
    reportWait = () => undefined,
  }: Pick<LocalVisionDeps, 'turns' | 'currentCaller' | 'reportWait'>,
): AskModel {
  /** Waits for a turn. Throws `ModelBusyError` if none is free in time. */
  async function takeTurn(signal: AbortSignal): Promise<StreamTurn> {
    const calledMs = performance.now();
    const caller = currentCaller();
    try {
      const turn = await turns.take(caller, signal);
      if (turn !== undefined) return turn;
    } catch (cause) {
      if (!isTimeout(cause)) throw new VisionError('The call was cancelled.', { cause, calls: [] });
    } finally {
      // A wait that exceeds the time limit of the call is the clearest sign of overload.
      reportWait(performance.now() - calledMs, caller);
    }
    throw new ModelBusyError();
  }

  return async (task, { pictures }, signal) => {
    if (!pictures.every(isPicture)) throw new VisionError(unreadable, { calls: [] });
    const turn = await takeTurn(signal);
    const { answer, free } = host.call(toRequest(task, pictures), signal);
    void free.then(() => turn.end());
    const { text, end, inputTokens, outputTokens } = await answer.catch((cause: unknown) => {
      if (cause instanceof VisionError) throw cause;
      throw new VisionError(tooSlow, { cause });
    });
    const tokens = { input_tokens: inputTokens, output_tokens: outputTokens };
    return withTokens(tokens, async () => ({ fields: readAnswer(task, text, toAnswerEnd(end)), tokens }));
  };
}

function toRequest(task: ModelTask<unknown>, pictures: Uint8Array[]): ModelRequest {
  return {
    system: task.system,
    text: plain(task.text),
    pictures,
    schema: { ...toAnswerSchema(task, { bounded: true }), additionalProperties: false },
    maxTokens: task.maxTokens,
  };
}

const unreadable = 'The picture cannot be decoded. Try again.';
const tooSlow =
  'The model did not respond in time. Use a smaller model, fewer threads of other work, or a lower WATCHPOST_VISION_WIDTH.';

function toAnswerEnd(end: ModelAnswer['end']) {
  switch (end) {
    case 'context full':
      throw new ContextError();
    case 'picture':
      throw new VisionError(unreadable);
    case 'cancelled':
      throw new VisionError(tooSlow);
    default:
      return end;
  }
}

/** Returns true for a JPEG of bounded size. The runtime also decodes other formats, which nobody needs. */
function isPicture(jpeg: Uint8Array): boolean {
  const header = readJpegHeader(jpeg);
  return header !== undefined && header.width * header.height <= maxPixels;
}

/**
 * Removes what the runtime reads as the place of a picture, or as the end of a message, from a text with words of
 * callers.
 */
function plain(text: string): string {
  return text.replaceAll(/<__media__>|<\|/g, ' ');
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}
