import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports that `freePort` returns, and those that systems give to connections and servers, are at least this one. */
export const firstPortOfTests = 10_000;

/**
 * Returns a port of the loopback interface that nobody listened on a moment ago. It is below the ports that systems
 * give to connections and to servers without a port of their own, so that it stays free until it is used.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(firstPortOfTests, 32_000);
    const server = createServer();
    const listening = once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.listen(port, '127.0.0.1');
    if (!(await listening)) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error('100 ports were in use');
}
