import { z } from 'zod';

/**
 * Error that an AWS service returns. Its `name` is the error code, and `$metadata` and the fields of the response are as in errors of the
 * SDK, so that `aws-error.ts` and the retries of the SDK read both.
 */
export class AwsResponseError extends Error {
  override name: string;
  readonly $metadata: { httpStatusCode: number; requestId?: string; clockSkewCorrected?: true };

  constructor(code: string, message: string, metadata: AwsResponseError['$metadata'], fields: object) {
    super(message);
    Object.assign(this, fields);
    this.name = code;
    this.message = message;
    this.$metadata = metadata;
  }
}

type Failed = { statusCode: number; headers: Record<string, string>; body: Uint8Array };

const jsonSchema = z.looseObject({
  __type: z.string().optional(),
  code: z.string().optional(),
  message: z.string().optional(),
  Message: z.string().optional(),
});

/** Converts a response of the JSON protocols, of Lambda or of S3 to its error. */
export function toResponseError({ statusCode, headers, body }: Failed): AwsResponseError {
  const text = Buffer.from(body).toString();
  const requestId = headers['x-amzn-requestid'] ?? headers['x-amz-request-id'];
  const metadata = { httpStatusCode: statusCode, ...(requestId !== undefined && { requestId }) };
  const { __type: type, code, message, Message, ...fields } = jsonSchema.catch({}).parse(parseJson(text));
  const name = type ?? code ?? headers['x-amzn-errortype'] ?? readXml(text, 'Code') ?? `HTTP ${statusCode}`;
  const reason = message ?? Message ?? readXml(text, 'Message') ?? `AWS returned HTTP status ${statusCode}`;
  return new AwsResponseError(toCode(name), reason, metadata, fields);
}

/** Removes the namespace and the URL that surround a code: `com.amazonaws.x#Name`, `Name:http://…`. */
function toCode(name: string): string {
  return name.replace(/[,:].*$/s, '').replace(/^.*#/s, '');
}

function readXml(text: string, element: string): string | undefined {
  return new RegExp(`<${element}>([^<]*)</${element}>`).exec(text)?.[1];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
