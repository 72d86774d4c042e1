import { toDiscordRequest } from '../../adapters/destinations/discord/discord.ts';
import { toMail } from '../../adapters/destinations/email/email.ts';
import { toPublications } from '../../adapters/destinations/mqtt/mqtt.ts';
import { toNtfyRequest } from '../../adapters/destinations/ntfy/ntfy.ts';
import { toPagerdutyRequest } from '../../adapters/destinations/pagerduty/pagerduty.ts';
import { toSlackRequest } from '../../adapters/destinations/slack/slack.ts';
import { toTelegramRequest } from '../../adapters/destinations/telegram/telegram.ts';
import { toEnvelope } from '../../adapters/destinations/webhook/webhook.ts';
import { notify } from '../adapters/destinations/notifications.ts';

const url = 'https://example.com/';
const routing = { routing_key: 'e93facc04764012d7bfb002500d5d1a6' };

/** Messages of the opening of one alert, as docs/use/destination-examples.json shows them. */
export function destinationExamples(): Record<string, unknown> {
  const opened = notify('alert_opened', {
    id: 'msg_0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001_17',
    isPublic: false,
    frameUrl:
      'http://127.0.0.1:8787/evidence/0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001/17.jpg?expires=1772971200&signature=wI3e…',
  });
  const json = (request: { body: string | Uint8Array | null } | undefined): unknown =>
    JSON.parse(String(request?.body));
  const { headers } = toNtfyRequest(url, { token: 'tk_secret' }, opened);
  const { to, subject, text, attachments } = toMail('guard@example.com', opened);
  return {
    webhook: toEnvelope(opened),
    slack: json(toSlackRequest(url, opened)),
    discord: json(toDiscordRequest(url, { ...opened, frame: null })),
    ntfy: headers,
    telegram: json(toTelegramRequest({ to: '-1001234567890' }, { ...opened, frame: null })),
    pagerduty: json(toPagerdutyRequest(routing, opened)),
    email: { to, subject, text, attachments: attachments.map(({ filename }) => filename) },
    mqtt: toPublications(opened).map(({ topic, retain }) => ({ topic, retain })),
  };
}
