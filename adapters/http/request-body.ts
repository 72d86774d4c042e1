import { createMiddleware } from 'hono/factory';
import { ValidationError } from './validation.ts';

/**
 * Reads the body as JSON before the schema sees it, and answers 422 where it is none. Bodies that are absent, no object, or of
 * another content type are told apart as FastAPI tells them.
 */
export function jsonBody() {
  return createMiddleware(async (c, next) => {
    const text = await c.req.text();
    if (text === '')
      throw new ValidationError([{ loc: ['body'], type: 'missing', msg: 'Field required', input: null }]);
    if (!isJsonType(c.req.header('Content-Type'))) throw notAnObject();
    const value = parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject();
    await next();
  });
}

function isJsonType(contentType: string | undefined): boolean {
  return /^application\/([a-z0-9.+-]+\+)?json\b/i.test(contentType ?? '');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'no JSON';
    throw new ValidationError([
      {
        loc: ['body', positionIn(reason)],
        type: 'json_invalid',
        msg: 'JSON decode error',
        input: {},
        ctx: { error: withoutText(reason) },
      },
    ]);
  }
}

function positionIn(reason: string): number {
  return Number(/at position (\d+)/.exec(reason)?.[1] ?? 0);
}

/** V8 quotes the body in its message; it may hold a credential. */
function withoutText(reason: string): string {
  return reason.startsWith('Unexpected end') ? 'Unexpected end of data' : 'Expecting value';
}

function notAnObject(): ValidationError {
  return new ValidationError([
    {
      loc: ['body'],
      type: 'model_attributes_type',
      msg: 'Input should be a valid dictionary or object to extract fields from',
    },
  ]);
}
