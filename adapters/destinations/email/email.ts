import type { Notification } from '../../../core/ports/delivery.ts';
import { describeNotification, findFile, shorten } from '../describe.ts';

/** E-mail of a notification, in the form that `nodemailer` takes. */
export type Mail = {
  to: string;
  subject: string;
  text: string;
  messageId: string;
  /** Id of the message about the opening of its alert. */
  inReplyTo?: string;
  references?: string;
  headers: Record<string, string>;
  attachments: { filename: string; content: Buffer; contentType: string }[];
};

const maxSubject = 200;
/** Size of an attachment that mail servers accept after encoding. */
const maxFrameBytes = 5_000_000;

/**
 * Returns a plain text e-mail with the frame attached. The same id for all attempts lets mail programs drop a
 * repetition.
 */
export function toMail(to: string, notification: Notification): Mail {
  const { title, text, facts } = describeNotification(notification);
  const { id, console, opening } = notification;
  const file = findFile(notification, maxFrameBytes);
  const lines = facts.map(([name, value]) => `${name}: ${shorten(value, 300)}`);
  const link = console ? ['', `Console: ${console.url}`, ...(console.note === '' ? [] : [console.note])] : [];
  return {
    to,
    subject: shorten(title, maxSubject),
    text: [
      shorten(title, 2_000),
      ...(text === '' ? [] : ['', shorten(text, 2_000)]),
      '',
      ...lines,
      ...link,
      '',
    ].join('\n'),
    messageId: `<${id}@watchpost>`,
    ...(opening !== undefined && { inReplyTo: opening, references: opening }),
    // RFC 3834: no automatic answers.
    headers: { 'auto-submitted': 'auto-generated' },
    attachments: file ? [{ ...file, content: Buffer.from(file.content) }] : [],
  };
}

/** Returns true if the operator allows the recipient: by address, or by its domain as `@example.com`. */
export function isAllowedRecipient(recipient: string, allowed: readonly string[]): boolean {
  const address = recipient.trim().toLowerCase();
  // One plain address: a list, a name or a comment would reach others, and so would a route (`a%host@`, `host!a@`) at a
  // relay.
  if (!/^[\p{L}\p{N}._+'=~&-]+@[\p{L}\p{N}.-]+$/u.test(address)) return false;
  const domain = address.slice(address.lastIndexOf('@'));
  return allowed.some((entry) => [address, domain].includes(entry.trim().toLowerCase()));
}
