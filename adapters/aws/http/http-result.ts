/** Response in payload format 2.0. */
export type HttpResult = {
  statusCode: number;
  headers: Record<string, string>;
  cookies: string[];
  body: string;
  isBase64Encoded: boolean;
};

/** Converts a `Response`. Bodies that are not text or JSON are base64. */
export async function toHttpResult(response: Response): Promise<HttpResult> {
  const { 'set-cookie': _, ...headers } = Object.fromEntries(response.headers);
  const body = Buffer.from(await response.arrayBuffer());
  const isText = textual.test(response.headers.get('content-type') ?? 'text/plain');
  return {
    statusCode: response.status,
    headers,
    cookies: response.headers.getSetCookie(),
    body: body.toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: !isText,
  };
}

const textual = /^(?:text\/|application\/json)/i;
