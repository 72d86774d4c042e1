import { createInterface } from 'node:readline';
import { createDestinations } from '../../../adapters/destinations/destination-sender.ts';
import { createSmtpSender } from '../../../adapters/destinations/email/smtp.ts';
import { createPublisher } from '../../../adapters/destinations/mqtt/publish.ts';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import { createHttpSender } from '../../../adapters/destinations/http-sender.ts';
import { createWebhookSigner } from '../../../adapters/signers.ts';
import { notify } from './notifications.ts';

/**
 * Sends one notification per line `{type, port}`, all concurrently, and prints `{outcome, rssMb}` of each. Nothing
 * catches what a library throws in a callback.
 */

const timeoutSeconds = 2;
const guard = createEgressGuard({ allowRanges: ['127.0.0.0/8'] });
const http = createGuardedHttp(guard);
const elapsedMs = () => performance.now();

for await (const line of createInterface(process.stdin)) void send(JSON.parse(line));

async function send({ type, port }: { type: 'webhook' | 'mqtt' | 'email'; port: number }): Promise<void> {
  const destinations = createDestinations({
    http: createHttpSender({ http, version: '1', elapsedMs, timeoutSeconds }),
    signer: createWebhookSigner({ masterSecret: new Uint8Array(32) }),
    now: () => new Date(),
    publish: createPublisher({ guard, elapsedMs, timeoutSeconds }),
    mail: {
      send: createSmtpSender({
        url: `smtp://127.0.0.1:${port}`,
        from: 'a@example.com',
        elapsedMs,
        timeoutSeconds,
      }),
      recipients: ['guard@example.com'],
    },
  });
  const scheme = type === 'mqtt' ? 'mqtt' : 'http';
  const address = type === 'email' ? { to: 'guard@example.com' } : { url: `${scheme}://127.0.0.1:${port}/` };
  const { outcome } = await destinations.send(
    { destination_id: 'd', type, ...address },
    notify('alert_opened'),
  );
  process.stdout.write(
    `${JSON.stringify({ outcome, rssMb: Math.round(process.memoryUsage.rss() / 1e6) })}\n`,
  );
}
