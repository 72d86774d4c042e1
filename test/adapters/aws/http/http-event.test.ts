import { describe, expect, test } from 'vitest';
import { httpEventSchema, requestOf } from '../../../../adapters/aws/http/http-event.ts';
import { resultOf } from '../../../../adapters/aws/http/http-result.ts';
import { httpEvent } from './events.ts';

const read = (fields: object) => requestOf(httpEventSchema.parse(httpEvent(fields)));

describe('an event of payload format 2.0 as a request', () => {
  test('has method, address, query, headers and body', async () => {
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

  test('a body in base64 comes as its bytes', async () => {
    const body = Buffer.from([0xff, 0x00, 0x80]);

    const request = read({ method: 'POST', body: body.toString('base64'), isBase64Encoded: true });

    expect(Buffer.from(await request.arrayBuffer())).toEqual(body);
  });

  test('a GET that brings a body has none', () => {
    expect(read({ method: 'GET', body: 'x' }).body).toBeNull();
  });

  test('a decoded path does not become a query', () => {
    expect(new URL(read({ rawPath: '/api/jobs/a?b#c' }).url).pathname).toBe('/api/jobs/a%3Fb%23c');
  });

  test('headers beyond ASCII are bytes, as in Node’s own server', () => {
    expect(read({ headers: { 'x-name': 'ü' } }).headers.get('x-name')).toBe('Ã¼');
  });

  test('what cannot be a request throws', () => {
    expect(() => read({ method: 'TRACE' })).toThrow(TypeError);
    expect(() => read({ headers: { 'x-a': 'a\nb' } })).toThrow(TypeError);
  });
});

describe('a response as a result of payload format 2.0', () => {
  test('JSON and text stay as they are', async () => {
    const result = await resultOf(
      Response.json({ a: 'ü' }, { status: 422, headers: { 'Retry-After': '3' } }),
    );

    expect(result).toEqual({
      statusCode: 422,
      headers: { 'content-type': 'application/json', 'retry-after': '3' },
      body: '{"a":"ü"}',
      isBase64Encoded: false,
    });
  });

  test('a picture is base64', async () => {
    const picture = Buffer.from([0xff, 0xd8, 0xff]);

    const result = await resultOf(new Response(picture, { headers: { 'content-type': 'image/jpeg' } }));

    expect(result).toMatchObject({ isBase64Encoded: true, body: picture.toString('base64') });
  });

  test('nothing is an empty text', async () => {
    expect(await resultOf(new Response(null, { status: 204 }))).toMatchObject({
      statusCode: 204,
      body: '',
      isBase64Encoded: false,
    });
  });
});
