import { VisionError } from '../../../core/errors.ts';

const remedies: Record<string, string> = {
  ThrottlingException:
    'Bedrock throttles this account. Try again later, use a longer interval, or ask AWS for a higher quota of tokens per minute.',
  ServiceQuotaExceededException: 'A Bedrock quota of this account is used up. Ask AWS for a higher one.',
  ModelNotReadyException: 'Bedrock is still loading the model. Try again in a minute.',
  CredentialsProviderError:
    'No AWS credentials were found. Configure them as for the AWS command line, or choose another vision model.',
  ExpiredTokenException: 'The AWS credentials have expired. Renew them.',
  UnrecognizedClientException: 'AWS does not know these credentials. Check them and the region.',
};

/** Says what to do; what the SDK said stays in `cause`, for the log. */
export function visionErrorFrom(error: unknown, signal: AbortSignal, modelId: string): VisionError {
  if (signal.aborted) {
    return new VisionError('The model did not answer in time. Try again.', { cause: error });
  }
  const name = error instanceof Error ? error.name : '';
  return new VisionError(remedies[name] ?? remedyFor(name, modelId), { cause: error });
}

function remedyFor(name: string, modelId: string): string {
  switch (name) {
    case 'AccessDeniedException':
      return `Access to ${modelId} is denied. Allow bedrock:InvokeModel on it and enable the model for this account and region.`;
    case 'ResourceNotFoundException':
    case 'ValidationException':
      return `Bedrock refuses the request for ${modelId}. Check the model id and whether its region needs an inference profile (us., eu., apac., global.).`;
    default:
      return 'Bedrock failed to answer. Usually this passes; try again.';
  }
}
