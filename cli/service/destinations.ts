import { createDestinations } from '../../adapters/destinations/destination-sender.ts';
import type { DestinationSenderDeps } from '../../adapters/destinations/destination-sender.ts';
import type { Publish } from '../../adapters/destinations/mqtt/publish.ts';
import { loadOnce } from '../../adapters/load-once.ts';
import type { Destinations } from '../../core/ports/delivery.ts';
import type { Settings } from '../settings.ts';

type Deps = Pick<DestinationSenderDeps, 'http' | 'signer' | 'now'> & { publish: Publish };

const elapsedMs = () => performance.now();

/**
 * Creates the destinations of watches of one machine: all formats, e-mail with an SMTP server, MQTT in the ranges of
 * webhooks.
 */
export function createServiceDestinations(
  { smtpUrl, emailFrom, emailRecipients }: Settings,
  deps: Deps,
): Destinations {
  // Its library is loaded by the first e-mail.
  const loadSender = loadOnce(async () => {
    const { createSmtpSender } = await import('../../adapters/destinations/email/smtp.ts');
    return createSmtpSender({ url: smtpUrl, from: emailFrom, elapsedMs });
  });
  return createDestinations({
    ...deps,
    ...(smtpUrl !== '' && {
      mail: {
        send: async (mail) => (await loadSender())(mail),
        recipients: emailRecipients,
      },
    }),
  });
}
