import type { Log } from '../../core/ports/observability.ts';
import type { DestinationSenderDeps } from '../destinations/destination-sender.ts';
import type { SendMail } from '../destinations/email/smtp.ts';
import type { Secret } from './secret.ts';

/** Settings of e-mail, as a function has them. */
export type MailSettings = {
  SMTP_SECRET_ARN?: string | undefined;
  EMAIL_FROM?: string | undefined;
  EMAIL_RECIPIENTS: readonly string[];
};

export type MailDeps = { secret: (arn: string) => Pick<Secret, 'current'>; log: Log };

/**
 * Creates the mail of destinations; undefined without an SMTP server. Reads its URL and loads the SMTP library at the
 * first e-mail.
 */
export function createMail(
  { SMTP_SECRET_ARN: arn, EMAIL_FROM: from, EMAIL_RECIPIENTS: recipients }: MailSettings,
  { secret, log }: MailDeps,
): NonNullable<DestinationSenderDeps['mail']> | undefined {
  if (arn === undefined || from === undefined) return undefined;
  const address = secret(arn);
  let last: { url: string; send: SendMail } | undefined;
  return { recipients, send: async (mail) => (await sender(from))(mail) };

  async function sender(mailbox: string): Promise<SendMail> {
    try {
      const url = (await address.current()).trim();
      if (!isSmtpUrl(url)) throw new Error('The secret is no URL of smtp: or smtps:');
      if (last?.url !== url) last = { url, send: await createSender(url, mailbox) };
      return last.send;
    } catch (error) {
      log.error('SMTP server not usable', { error: String(error) });
      return async () => ({
        status: null,
        latencyMs: 0,
        error: 'The SMTP server of this service is not usable',
        retryAfter: null,
        outcome: 'retry',
      });
    }
  }
}

async function createSender(url: string, from: string): Promise<SendMail> {
  const { createSmtpSender } = await import('../destinations/email/smtp.ts');
  return createSmtpSender({ url, from, elapsedMs: () => performance.now() });
}

function isSmtpUrl(text: string): boolean {
  return URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol);
}
