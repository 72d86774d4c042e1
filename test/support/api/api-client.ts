import { createApp } from '../../../adapters/http/app.ts';
import { mintKey } from '../../../core/access/api-key.ts';
import type { Scope } from '../../../core/records/key.ts';
import type { World } from '../world.ts';

export type ApiAnswer = { status: number; headers: Headers; body: any };

/** Client of the app in a world, for one key. */
export type ApiClient = {
  key: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
};

/** Creates a client with a new key. */
export async function createClientFor(
  world: World,
  scopes: Scope[] = ['jobs', 'keys'],
  caller = 'harbour',
): Promise<ApiClient> {
  const minted = mintKey({ caller, scopes, label: null }, world.c.now(), world.c);
  await world.c.keys.put(minted.key);
  return clientWith(world, minted.text);
}

/** Creates a client with an existing key. */
export function clientWith(world: World, key: string): ApiClient {
  return {
    key,
    call: async (method, path, body, headers = {}) => {
      const response = await createApp(world.c).request(`/api${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
    },
  };
}

export const internal = { 'x-service-internal': 'true' };
