import { createTransport } from 'nodemailer';
import type { DestinationResult } from '../../../core/ports/destinations.ts';
import type { Mail } from './email.ts';

/** Sends one e-mail. Errors of the server are results. */
export type SendMail = (mail: Mail) => Promise<DestinationResult>;

export type SmtpOptions = {
  /** `smtp://` or `smtps://` with credentials. A setting of the operator, so it may be a private address. */
  url: string;
  from: string;
  elapsedMs: () => number;
  /** Timeout of connection, greeting and idle socket, in seconds. Default: 30. */
  timeoutSeconds?: number;
};

/** Creates a sender over the SMTP server of the operator. One connection per e-mail: alerts are rare. */
export function createSmtpSender({ url, from, elapsedMs, timeoutSeconds = 30 }: SmtpOptions): SendMail {
  const timeoutMs = timeoutSeconds * 1_000;
  const limits = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  const transport = createTransport(
    { url, ...limits, disableFileAccess: true, disableUrlAccess: true },
    { from },
  );
  return async (mail) => {
    const startedMs = elapsedMs();
    const latencyMs = (): number => Math.round(elapsedMs() - startedMs);
    try {
      await transport.sendMail(mail);
      return { status: 250, latencyMs: latencyMs(), error: null, retryAfter: null, outcome: 'delivered' };
    } catch (error) {
      return { ...toFailure(error), latencyMs: latencyMs(), retryAfter: null };
    }
  };
}

/** Reply codes of RFC 5321: 550, 551 and 553 refuse the mailbox, other 5xx this e-mail; 4xx are transient, as is a server without a reply. */
function toFailure(error: unknown): Pick<DestinationResult, 'status' | 'error' | 'outcome'> {
  const status = readNumber(error, 'responseCode');
  // A refused login is an error of the operator, which later attempts may find repaired.
  const isLogin = readText(error, 'code') === 'EAUTH';
  if (status === null || isLogin) {
    return {
      status,
      error: `The SMTP server is not available (${readText(error, 'code')})`,
      outcome: 'retry',
    };
  }
  const outcome = [550, 551, 553].includes(status) ? 'gone' : status >= 500 ? 'rejected' : 'retry';
  return { status, error: `The SMTP server answered ${status}`, outcome };
}

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
