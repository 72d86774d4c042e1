import { VisionError } from '../../../core/errors.ts';
import { ContextError } from '../task.ts';

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
export function visionErrorFrom(error: unknown, signal: AbortSignal, modelId: string): VisionError {
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
