import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { streamResponse } from '../../../../adapters/aws/http/response-stream.ts';

/** Sends status and headers before the first bytes, like Lambda's runtime. */
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

/** Endless body, one chunk at a time; `left` is true after a cancellation. */
function endless() {
  const left = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode(': heartbeat\n\n')),
    cancel: () => left.resolve(),
  });
  return { response: new Response(body), left: left.promise };
}

test('a streamed response begins with status and headers', async () => {
  const response = new Response('data: 1\n\n', {
    status: 201,
    headers: { 'content-type': 'text/event-stream' },
  });

  expect(await sent(response)).toBe(
    '{"statusCode":201,"headers":{"content-type":"text/event-stream"}}|data: 1\n\n',
  );
});

test('a streamed response without a body has status and headers', async () => {
  expect(await sent(new Response(null, { status: 204 }))).toBe('{"statusCode":204,"headers":{}}|');
});

test('a disconnected reader ends the body without a failure', async () => {
  const { response, left } = endless();
  const stream = new PassThrough();
  const done = streamResponse(response, stream, { HttpResponseStream });
  stream.once('data', () => stream.destroy());

  await Promise.all([left, done]);
});

test('a slow reader pauses the body', async () => {
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

test('an interrupted body fails, so that it does not look complete', async () => {
  const body = new ReadableStream({
    pull: (controller) => controller.error(new Error('the store is gone')),
  });

  const stream = new PassThrough().on('error', () => undefined);

  await expect(streamResponse(new Response(body), stream, { HttpResponseStream })).rejects.toThrow(
    'the store is gone',
  );
  expect(stream.writableFinished).toBe(false);
});
