import { createTransport } from 'nodemailer';
import type { DestinationResult } from '../../../core/ports/delivery.ts';
import type { Mail } from './email.ts';

/** Sends one e-mail. Errors of the server are results. */
export type SendMail = (mail: Mail) => Promise<DestinationResult>;

export type SmtpOptions = {
  /**
   * `smtp://` or `smtps://` with credentials. A setting of the operator, so it may be a private address. Credentials
   * are sent over TLS only, unless the server is this machine.
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
      return {
        status: 250,
        latencyMs: latencyMs(),
        error: null,
        retryAfter: null,
        outcome: 'delivered',
        receipt: mail.messageId,
      };
    } catch (error) {
      return { ...toFailure(error), latencyMs: latencyMs(), retryAfter: null };
    }
  };
}

/** Longest reply of a server, in bytes. RFC 5321 has 512 per line. */
const maxResponseSize = 65_536;

/**
 * A server that offers no STARTTLS, or somebody between who removes the offer, would read the password. `smtps` begins
 * with TLS.
 */
function needsTls({ protocol, username, hostname }: URL): boolean {
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname.toLowerCase());
  return protocol === 'smtp:' && username !== '' && !isLoopback;
}

/**
 * Converts an error of the library. A server without a reply, and errors of the operator, may be repaired by a later
 * attempt.
 */
function toFailure(error: unknown): Pick<DestinationResult, 'status' | 'error' | 'outcome'> {
  const status = readNumber(error, 'responseCode');
  const code = readText(error, 'code');
  const command = readText(error, 'command');
  if (status === null || ['EAUTH', 'ETLS'].includes(code))
    return {
      status,
      error: describeUnavailable(code, error),
      outcome: 'retry',
    };
  const reply = readText(error, 'response');
  const [, enhanced = ''] = /^\d{3}[ -]\W?(\d\.\d{1,3}\.\d{1,3})\b/.exec(reply) ?? [];
  const shown = enhanced === '' ? String(status) : `${status} ${enhanced} to ${command}`;
  const outcome = replyOutcome({ status, enhanced, command, reply });
  return { status, error: `The SMTP server answered ${shown}`, outcome };
}

type Reply = { status: number; enhanced: string; command: string; reply: string };

/**
 * Returns the meaning of a refusal (RFC 5321, and RFC 3463 for enhanced codes). Only a recipient that does not exist is
 * gone, by the reply to `RCPT TO`. An e-mail that is too large or has a refused content is rejected. All else concerns
 * the sender or the server, and passes: limits of a day, policies, an address that the account may not use.
 */
function replyOutcome({ status, enhanced, command, reply }: Reply): DestinationResult['outcome'] {
  if (status < 500) return 'retry';
  if (/^5\.(?:3\.4|2\.3)$/.test(enhanced) || /too (?:large|big|long)|message size/i.test(reply))
    return 'rejected';
  if (command === 'RCPT TO') return isUnknownRecipient({ status, enhanced, reply }) ? 'gone' : 'retry';
  // A full mailbox, and limits of the sender in a time.
  const isPassing =
    /^5\.(?:2\.2|1\.|3\.|4\.)/.test(enhanced) || /quota|limit|\bfull|\brate|too many|later/i.test(reply);
  if (status === 552) return isPassing || enhanced.startsWith('5.7') ? 'retry' : 'rejected';
  return command === 'DATA' && status !== 550 && status !== 553 && !isPassing ? 'rejected' : 'retry';
}

/**
 * Returns true if a refusal says that the mailbox does not exist (RFC 3463: 5.1.1, 5.1.3, 5.1.6; RFC 7505: 5.1.10). 550
 * alone does not: RFC 5321 has it for policies too, and 5.2.1 is a mailbox that exists.
 */
function isUnknownRecipient({ status, enhanced, reply }: Omit<Reply, 'command'>): boolean {
  if (enhanced !== '') return /^5\.1\.(?:1|3|6|10)$/.test(enhanced);
  // An address may contain any of the words.
  const words = reply.split(/\s/).filter((word) => !/[@<]/.test(word));
  const text = words.join(' ');
  return [550, 551, 553].includes(status) && unknownMailbox.test(text) && !isPolicy.test(text);
}

const mailbox = 'user|mailbox|recipient|address|account|alias|inbox|person';
/** Texts of Postfix, Sendmail, Exim, qmail, Exchange, Gmail, Yahoo, Mail.ru and Coremail. */
const unknownMailbox = new RegExp(
  [
    String.raw`\b(?:no such|unknown|invalid|non-?existent|not a valid)\s(?:local |recipient |mail ?)?(?:${mailbox})\b`,
    String.raw`\b(?:${mailbox})\b[^.;]{0,40}\b(?:unknown|not found|not exist|does ?n[o']t exist|no longer exists)`,
    String.raw`\bno mailbox here|\bunrout(?:e)?able address|\bdoesn't have an? \S+ account`,
  ].join('|'),
  'i',
);
const isPolicy =
  /sender|limit|quota|rate|spam|block|black|gr[ae]y|\brbl|relay|denied|prohib|policy|auth|tls|reputation|client|full|later|helo|host name/i;

function describeUnavailable(code: string, error: unknown): string {
  if (code === 'EABORT') return 'The SMTP server did not answer in time';
  if (code === 'ETLS') return 'The SMTP server offers no TLS, without which nothing is sent';
  return error instanceof Error && /certificate/i.test(error.message)
    ? 'The certificate of the SMTP server is not trusted: add its authority by NODE_EXTRA_CA_CERTS'
    : `The SMTP server is not available (${code})`;
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
