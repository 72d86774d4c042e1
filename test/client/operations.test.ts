import { expect, test } from 'vitest';
import { openApiDocument } from '../../adapters/openapi/document.ts';
import { createClient } from '../../client/index.ts';

test('the client has one function per operation of the OpenAPI document', async () => {
  const sent = new Set<string>();
  const client: Record<string, (...given: any[]) => unknown> = createClient({
    baseUrl: 'https://HOST/api',
    apiKey: 'wp_x',
    fetch: async (url, init) => {
      sent.add(`${init?.method} ${new URL(new Request(url).url).pathname.slice('/api'.length)}`);
      return new Response('{}');
    },
  });
  for (const [name, call] of Object.entries(client)) {
    if (name === 'follow') continue;
    const hasSequence = ['picture', 'resendDelivery', 'resendWatchDelivery'].includes(name);
    await call('ID', hasSequence ? 7 : {}, name === 'resendWatchDelivery' ? 'ID' : {});
  }

  const { paths } = openApiDocument('https://HOST/api') as { paths: Record<string, object> };
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => {
      const place = path.replace('{sequence}', '7').replaceAll(/\{\w+\}/g, 'ID');
      return `${method.toUpperCase()} ${place}`;
    }),
  );
  expect([...sent].toSorted()).toEqual(documented.toSorted());
});
