import { describe, expect, test } from 'vitest';
import { httpEventSchema, streamEventSchema, toRequest } from '../../../../adapters/aws/http/http-event.ts';
import { toHttpResult } from '../../../../functions/api/handler.ts';
import { endpoints } from '../../../../adapters/http/endpoints/endpoints.ts';
import { httpEvent, restEvent } from './events.ts';

const read = (fields: object) => toRequest(httpEventSchema.parse(httpEvent(fields)));

describe('requestOf', () => {
  test('a request has method, URL, query, headers and body of its event', async () => {
    const request = read({
      method: 'POST',
      rawPath: '/api/live-monitor',
      rawQueryString: 'a=1&b=%20',
      headers: { authorization: 'Bearer wp_x' },
      body: '{"stream_url":"ü"}',
    });

    expect([request.method, request.url]).toEqual([
      'POST',
      'https://origin.example/api/live-monitor?a=1&b=%20',
    ]);
    expect(request.headers.get('authorization')).toBe('Bearer wp_x');
    expect(await request.text()).toBe('{"stream_url":"ü"}');
  });

  test('a base64 body is decoded', async () => {
    const body = Buffer.from([0xff, 0x00, 0x80]);

    const request = read({ method: 'POST', body: body.toString('base64'), isBase64Encoded: true });

    expect(Buffer.from(await request.arrayBuffer())).toEqual(body);
  });

  test('the body of a GET is dropped', () => {
    expect(read({ method: 'GET', body: 'x' }).body).toBeNull();
  });

  test('a decoded path does not become a query', () => {
    expect(new URL(read({ rawPath: '/api/jobs/a?b#c' }).url).pathname).toBe('/api/jobs/a%3Fb%23c');
  });

  test("headers beyond ASCII are bytes, like in Node's HTTP server", () => {
    expect(read({ headers: { 'x-name': 'ü' } }).headers.get('x-name')).toBe('Ã¼');
  });

  test('an invalid request throws', () => {
    expect(() => read({ method: 'TRACE' })).toThrow(TypeError);
    expect(() => read({ headers: { 'x-a': 'a\nb' } })).toThrow(TypeError);
  });
});

describe('streamEventSchema', () => {
  const formats = [
    ['function URL', httpEvent],
    ['REST API', restEvent],
  ] as const;

  test.each(formats)('a request of a %s has method, path, query, headers and body', async (_, event) => {
    const request = toRequest(
      streamEventSchema.parse(
        event({
          method: 'POST',
          rawPath: '/api/live-monitor',
          rawQueryString: 'a=1&b=%26%C3%BC&a=2',
          headers: { Authorization: 'Bearer wp_x' },
          body: '{"stream_url":"ü"}',
        }),
      ),
    );

    const { pathname, searchParams } = new URL(request.url);
    expect([request.method, pathname]).toEqual(['POST', '/api/live-monitor']);
    expect([searchParams.getAll('a'), searchParams.get('b')]).toEqual([['1', '2'], '&ü']);
    expect(request.headers.get('authorization')).toBe('Bearer wp_x');
    expect(await request.text()).toBe('{"stream_url":"ü"}');
  });

  test.each(formats)('the largest JSON body of a %s fits into an invocation', (_, event) => {
    const body = JSON.stringify({ image_b64: 'A'.repeat(maxBodyBytes - 20) });
    expect(Buffer.byteLength(JSON.stringify(event({ method: 'POST', body })))).toBeLessThan(
      maxInvocationBytes,
    );
  });

  test('a REST API without query and headers is a valid request', () => {
    const event = { ...restEvent(), multiValueHeaders: null };
    expect(toRequest(streamEventSchema.parse(event)).url).toBe('https://rest.example/healthz');
  });
});

const maxBodyBytes = Math.max(...endpoints.map((each) => each.maxBodyBytes));
/** Maximum request of a synchronous invocation (Lambda quotas): 6 MB. */
const maxInvocationBytes = 6 * 1024 * 1024;

describe('resultOf', () => {
  test('JSON and text are unchanged', async () => {
    const result = await toHttpResult(
      Response.json({ a: 'ü' }, { status: 422, headers: { 'Retry-After': '3' } }),
    );

    expect(result).toEqual({
      statusCode: 422,
      headers: { 'content-type': 'application/json', 'retry-after': '3' },
      cookies: [],
      body: '{"a":"ü"}',
      isBase64Encoded: false,
    });
  });

  test('cookies are in the field of their own, in requests and results', async () => {
    const request = toRequest(httpEventSchema.parse({ ...httpEvent({}), cookies: ['a=1', 'b=2'] }));
    expect(request.headers.get('cookie')).toBe('a=1; b=2');
    const result = await toHttpResult(new Response('', { headers: { 'Set-Cookie': 'a=1; HttpOnly' } }));
    expect(result.cookies).toEqual(['a=1; HttpOnly']);
    expect(result.headers).not.toHaveProperty('set-cookie');
  });

  test('an image is base64', async () => {
    const picture = Buffer.from([0xff, 0xd8, 0xff]);

    const result = await toHttpResult(new Response(picture, { headers: { 'content-type': 'image/jpeg' } }));

    expect(result).toMatchObject({ isBase64Encoded: true, body: picture.toString('base64') });
  });

  test('an empty body is an empty text', async () => {
    expect(await toHttpResult(new Response(null, { status: 204 }))).toMatchObject({
      statusCode: 204,
      body: '',
      isBase64Encoded: false,
    });
  });
});
