import { createApp } from '../../../adapters/http/app.ts';
import { mintKey } from '../../../core/access/api-key.ts';
import type { Scope } from '../../../core/records/key.ts';
import type { World } from '../world.ts';

export type Reply = { status: number; headers: Headers; body: any };

/** Creates a client of the app with its own key. Sends a body as JSON unless it is text, bytes or a stream. */
export async function createHttpCaller(world: World, caller = 'harbour', scopes: Scope[] = ['jobs', 'keys']) {
  const minted = mintKey({ caller, scopes, label: null }, world.c.now(), world.c);
  await world.c.keys.put(minted.key);
  // After the test has prepared the world: an app and its routes take ten times the time of a request.
  let app: ReturnType<typeof createApp> | undefined;
  return async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> => {
    const response = await (app ??= createApp(world.c)).request(`/api${path}`, {
      method,
      headers: {
        authorization: `Bearer ${minted.text}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(body === undefined ? {} : { body: toBody(body), duplex: 'half' }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
}

function toBody(body: unknown): string | Uint8Array<ArrayBuffer> | ReadableStream {
  return typeof body === 'string' || isBytes(body) || body instanceof ReadableStream
    ? body
    : JSON.stringify(body);
}

function isBytes(body: unknown): body is Uint8Array<ArrayBuffer> {
  return body instanceof Uint8Array;
}
