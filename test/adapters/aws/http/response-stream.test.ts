import { PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { streamResponse } from '../../../../adapters/aws/http/response-stream.ts';

/** What Lambda's runtime does with status and headers: they go before the first bytes. */
const HttpResponseStream = {
  from: (stream: Writable, metadata: unknown) => {
    const write = stream.write.bind(stream);
    let begun = false;
    stream.write = ((...args: Parameters<typeof write>) => {
      if (!begun) write(`${JSON.stringify(metadata)}|`);
      begun = true;
      return write(...args);
    }) as typeof stream.write;
    return stream;
  },
};

async function sent(response: Response): Promise<string> {
  const stream = new PassThrough();
  const [chunks] = await Promise.all([
    stream.toArray(),
    streamResponse(response, stream, { HttpResponseStream }),
  ]);
  return Buffer.concat(chunks).toString();
}

/** Frames for ever, one at a time; `left` once nobody wants more. */
function endless() {
  const left = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode(': heartbeat\n\n')),
    cancel: () => left.resolve(),
  });
  return { response: new Response(body), left: left.promise };
}

describe('a streamed response', () => {
  test('begins with status and headers', async () => {
    const response = new Response('data: 1\n\n', {
      status: 201,
      headers: { 'content-type': 'text/event-stream' },
    });

    expect(await sent(response)).toBe(
      '{"statusCode":201,"headers":{"content-type":"text/event-stream"}}|data: 1\n\n',
    );
  });

  test('has them also where nothing follows', async () => {
    expect(await sent(new Response(null, { status: 204 }))).toBe('{"statusCode":204,"headers":{}}|');
  });

  test('ends its source when the reader leaves, without failing', async () => {
    const { response, left } = endless();
    const stream = new PassThrough();
    const done = streamResponse(response, stream, { HttpResponseStream });
    stream.once('data', () => stream.destroy());

    await Promise.all([left, done]);
  });

  test('waits for a reader that is slow', async () => {
    let made = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          made += 1;
          controller.enqueue(Buffer.alloc(10_000));
        },
      },
      { highWaterMark: 0 },
    );
    const stream = new Writable({ highWaterMark: 10_000, write: () => undefined });

    void streamResponse(new Response(body), stream, { HttpResponseStream }).catch(() => undefined);
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));

    expect(made).toBeLessThan(20);
    stream.destroy();
  });

  test('that breaks off fails, so that it does not look complete', async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.error(new Error('the store is gone')),
    });

    const stream = new PassThrough().on('error', () => undefined);

    await expect(streamResponse(new Response(body), stream, { HttpResponseStream })).rejects.toThrow(
      'the store is gone',
    );
    expect(stream.writableFinished).toBe(false);
  });
});
