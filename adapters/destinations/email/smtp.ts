import { createTransport } from 'nodemailer';
import type { DestinationResult } from '../../../core/ports/destinations.ts';
import type { Mail } from './email.ts';

/** Sends one e-mail. Errors of the server are results. */
export type SendMail = (mail: Mail) => Promise<DestinationResult>;

export type SmtpOptions = {
  /**
   * `smtp://` or `smtps://` with credentials. A setting of the operator, so it may be a private address. Credentials are sent over TLS only, unless the
   * server is this machine.
   */
  url: string;
  from: string;
  elapsedMs: () => number;
  /** Timeout from connect to the last reply, in seconds. Default: 30. */
  timeoutSeconds?: number;
};

/** Creates a sender over the SMTP server of the operator. One connection per e-mail: alerts are rare. */
export function createSmtpSender({ url, from, elapsedMs, timeoutSeconds = 30 }: SmtpOptions): SendMail {
  const transport = createTransport(
    {
      url,
      requireTLS: needsTls(new URL(url)),
      maxResponseSize,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  );
  return async (mail) => {
    const startedMs = elapsedMs();
    const latencyMs = (): number => Math.round(elapsedMs() - startedMs);
    try {
      await transport.sendMail({ ...mail, signal: AbortSignal.timeout(timeoutSeconds * 1_000) });
      return { status: 250, latencyMs: latencyMs(), error: null, retryAfter: null, outcome: 'delivered' };
    } catch (error) {
      return { ...toFailure(error), latencyMs: latencyMs(), retryAfter: null };
    }
  };
}

/** Longest reply of a server, in bytes. RFC 5321 has 512 per line. */
const maxResponseSize = 65_536;

/** A server that offers no STARTTLS, or somebody between who removes the offer, would read the password. `smtps` begins with TLS. */
function needsTls({ protocol, username, hostname }: URL): boolean {
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname.toLowerCase());
  return protocol === 'smtp:' && username !== '' && !isLoopback;
}

/** Reply codes of RFC 5321: 550, 551 and 553 refuse the mailbox, other 5xx this e-mail; 4xx are transient, as is a server without a reply. */
function toFailure(error: unknown): Pick<DestinationResult, 'status' | 'error' | 'outcome'> {
  const status = readNumber(error, 'responseCode');
  const code = readText(error, 'code');
  // Errors of the operator, which later attempts may find repaired.
  const isOperators = ['EAUTH', 'ETLS'].includes(code);
  if (status === null || isOperators)
    return {
      status,
      error: unavailable[code] ?? `The SMTP server is not available (${code})`,
      outcome: 'retry',
    };
  const outcome = [550, 551, 553].includes(status) ? 'gone' : status >= 500 ? 'rejected' : 'retry';
  return { status, error: `The SMTP server answered ${status}`, outcome };
}

const unavailable: Record<string, string> = {
  EABORT: 'The SMTP server did not answer in time',
  ETLS: 'The SMTP server offers no TLS, without which the password is not sent',
};

function readNumber(error: unknown, name: string): number | null {
  const value = readProperty(error, name);
  return typeof value === 'number' ? value : null;
}

function readText(error: unknown, name: string): string {
  const value = readProperty(error, name);
  return typeof value === 'string' ? value : 'no code';
}

function readProperty(error: unknown, name: string): unknown {
  return error instanceof Error ? new Map<string, unknown>(Object.entries(error)).get(name) : undefined;
}
