import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Environment variable with the ports that were given in this process, or before it by the one that started it. */
const portsVariable = 'WATCHPOST_TEST_PORTS';

/** Returns the ports that `freePort` has returned to tests of this run, as far as this process knows. */
export function listGivenPorts(): number[] {
  return (process.env[portsVariable] ?? '').split(',').map(Number);
}

/**
 * Returns a port of the loopback interface that nobody listened on a moment ago. It is below the ports that systems
 * give to connections and to servers without a port of their own, so that it stays free until it is used.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(10_000, 32_000);
    const server = createServer();
    const listening = once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.listen(port, '127.0.0.1');
    if (!(await listening)) continue;
    server.close();
    await once(server, 'close');
    process.env[portsVariable] = [...listGivenPorts(), port].join(',');
    return port;
  }
  throw new Error('100 ports were in use');
}
