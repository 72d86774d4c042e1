import {
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandInput,
  type ConverseCommandOutput,
} from '@aws-sdk/client-bedrock-runtime';
import { VisionError } from '../../../core/vision-errors.ts';
import type { TokenUse } from '../../../core/records/vision.ts';
import {
  type AnswerEnd,
  withTokens,
  toAnswerSchema,
  readAnswer,
  type ModelTask,
  type Shown,
  ContextError,
} from '../task.ts';
import type { ModelFamily } from './model-families.ts';

/** Part of the SDK's client that calls need. */
export type ConverseClient = {
  config: { region: () => Promise<string> };
  send(command: ConverseCommand, options: { abortSignal: AbortSignal }): Promise<ConverseReply>;
};

type ConverseReply = Pick<ConverseCommandOutput, 'output' | 'usage'> &
  Partial<Pick<ConverseCommandOutput, 'stopReason'>>;

export type Call = { client: ConverseClient; modelId: string; family: ModelFamily };

/**
 * Sends one request (the client retries) and parses the input of the tool that the model must use. Throws
 * `VisionError`.
 */
export async function converse<Fields>(
  { client, modelId, family }: Call,
  task: ModelTask<Fields>,
  shown: Shown,
  signal: AbortSignal,
): Promise<{ fields: Fields; tokens: TokenUse }> {
  refuseTooLarge(shown, family);
  const command = new ConverseCommand(request(modelId, family, task, shown));
  const output = await client.send(command, { abortSignal: signal }).catch((error: unknown) => {
    throw visionErrorFrom(error, signal, modelId);
  });
  const tokens = {
    input_tokens: output.usage?.inputTokens ?? 0,
    output_tokens: output.usage?.outputTokens ?? 0,
  };
  return withTokens(tokens, async () => {
    if (output.stopReason === 'guardrail_intervened' || output.stopReason === 'content_filtered')
      throw new VisionError('The model refuses to answer. Rephrase the condition or use another model.');
    return { fields: readAnswer(task, answerIn(output, task.name), readEnd(output)), tokens };
  });
}

function refuseTooLarge({ pictures, clip }: Shown, family: ModelFamily): void {
  const bytes = pictures.reduce((sum, jpeg) => sum + jpeg.length, clip?.length ?? 0);
  if (bytes <= family.maxMediaBytes) return;
  throw new VisionError(
    `Use smaller images: ${bytes} bytes exceed the maximum of ${family.name}, ${family.maxMediaBytes} per request.`,
    { calls: [] },
  );
}

function request(
  modelId: string,
  family: ModelFamily,
  task: ModelTask<unknown>,
  shown: Shown,
): ConverseCommandInput {
  const schema = toAnswerSchema(task);
  const byText = family.answersBy === 'text';
  const text = byText
    ? `${task.text}\nAnswer with one JSON object of this schema: ${JSON.stringify(schema)}`
    : task.text;
  const tool = {
    toolSpec: { name: task.name, description: 'Gives the answer.', inputSchema: { json: schema } },
  };
  return {
    modelId,
    system: [{ text: task.system }],
    messages: [{ role: 'user', content: [...toBlocks(shown), { text }] }],
    inferenceConfig: { maxTokens: task.maxTokens, ...(family.takesTemperature && { temperature: 0 }) },
    ...(!byText && {
      toolConfig: {
        tools: [tool],
        ...(family.answersBy === 'forced tool' && { toolChoice: { tool: { name: task.name } } }),
      },
    }),
  };
}

function toBlocks({ pictures, clip }: Shown): ContentBlock[] {
  return [
    ...pictures.map((bytes): ContentBlock => ({ image: { format: 'jpeg', source: { bytes } } })),
    ...(clip ? [{ video: { format: 'mp4' as const, source: { bytes: clip } } }] : []),
  ];
}

/**
 * Returns the reason for the end of an answer
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html).
 */
function readEnd({ stopReason }: ConverseReply): AnswerEnd {
  if (stopReason === 'max_tokens') return 'token limit';
  return stopReason === 'model_context_window_exceeded' ? 'context' : 'complete';
}

/** Returns the tool input, otherwise the text: a model that is not forced to use the tool sometimes writes text. */
function answerIn(output: ConverseReply, toolName: string): unknown {
  const content = output.output?.message?.content ?? [];
  const used = content.findLast(({ toolUse }) => toolUse?.name === toolName);
  if (used?.toolUse !== undefined) return used.toolUse.input;
  return content.map(({ text }) => text ?? '').join('\n');
}

const remedies: Record<string, string> = {
  ThrottlingException:
    'Bedrock throttles this account. Try again later, use a longer interval, or ask AWS for a higher quota of tokens per minute.',
  ServiceQuotaExceededException: 'A Bedrock quota of this account is exhausted. Ask AWS for a higher quota.',
  ModelNotReadyException: 'Bedrock is still loading the model. Try again in a minute.',
  CredentialsProviderError:
    'No AWS credentials were found. Configure them as for the AWS CLI, or use another vision model.',
  ExpiredTokenException: 'The AWS credentials have expired. Renew them.',
  UnrecognizedClientException: 'AWS rejects the credentials. Check them and the region.',
};

/** Maps an SDK error to a `VisionError` with a remediation. The SDK message stays in `cause`, for the log. */
function visionErrorFrom(error: unknown, signal: AbortSignal, modelId: string): VisionError {
  if (signal.aborted) {
    return new VisionError('The model did not respond in time. Try again.', { cause: error });
  }
  const { name, message } = error instanceof Error ? error : { name: '', message: '' };
  if (isClosedModel(name, message)) return new ModelNotOpenError(modelId, { cause: error });
  if (name === 'ValidationException' && /(?:input|prompt) is too long|too many input tokens/i.test(message))
    return new ContextError({ cause: error });
  return new VisionError(remedies[name] ?? remedyFor(name, modelId), { cause: error });
}

/**
 * The account may not call the model yet: its quota is 0 tokens per minute, which AWS raises for a new account on
 * request or by its use of other services. The other `ValidationException`s are about the request.
 */
export class ModelNotOpenError extends VisionError {
  override name = 'ModelNotOpenError';

  constructor(modelId: string, options?: ErrorOptions) {
    super(
      `Bedrock does not permit this account to call ${modelId}. Open Service Quotas → Amazon Bedrock: if the applied tokens per minute of the model are 0, ask AWS Support to open the model for the account.`,
      options,
    );
  }
}

function isClosedModel(name: string, message: string): boolean {
  return name === 'ValidationException' && /operation not allowed/i.test(message);
}

function remedyFor(name: string, modelId: string): string {
  switch (name) {
    case 'AccessDeniedException':
      return `Access to ${modelId} is denied. Allow bedrock:InvokeModel on it and enable the model for this account and region.`;
    case 'ResourceNotFoundException':
    case 'ValidationException':
      return `Bedrock rejects the request for ${modelId}. Check the model id and whether its region needs an inference profile (us., eu., apac., global.).`;
    default:
      return 'Bedrock returned an error. Try again in a few seconds.';
  }
}
