import type { Notification } from '../../../core/ports/delivery.ts';
import type { DestinationAddress, Severity } from '../../../core/records/watch.ts';
import { describeNotification, findFile, shorten } from '../describe.ts';
import type { HttpRequest, PermanentStatuses } from '../http-sender.ts';

/** Topic of ntfy (docs.ntfy.sh/publish). 401 and 403: the token does not permit to publish. */
export const ntfyStatuses: PermanentStatuses = { gone: [401, 403, 410], rejected: [400, 413] };

/** Maximum message, in bytes: a longer one would become an attachment. */
const maxMessageBytes = 4_096;
const maxTitle = 250;
/** Size of an attachment that ntfy.sh accepts without an account. */
const maxFrameBytes = 2_000_000;

/** Priorities of ntfy: 5 is urgent, 3 is the default, 2 makes no sound. */
const priorities: Record<Severity, number> = { critical: 5, warning: 4, info: 3 };
const quietPriority = 2;

/** Returns a message. With a frame, the body is the attachment and the message is a header. */
export function toNtfyRequest(
  url: string,
  { token }: Pick<DestinationAddress, 'token'>,
  notification: Notification,
): HttpRequest {
  const { title, text, facts, severity, isOpen } = describeNotification(notification);
  const { console } = notification;
  const file = findFile(notification, maxFrameBytes);
  const shown = facts.map(([name, value]) => `${name}: ${value}`);
  const lines = [text, ...shown, console?.note ?? ''].filter((line) => line !== '');
  const headers = {
    title: encodeHeader(shorten(title, maxTitle)),
    priority: String(isOpen ? priorities[severity ?? 'warning'] : quietPriority),
    tags: isOpen ? 'rotating_light' : 'information_source',
    ...(console && { click: console.url }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  if (!file) {
    const type = { 'content-type': 'text/plain; charset=utf-8' };
    const body = withinBytes(lines.map(oneLine).join('\n'));
    return { url, headers: { ...headers, ...type }, body, readsAnswer: true };
  }
  const message = encodeHeader(lines.map(oneLine).join(' · '));
  return {
    url,
    headers: { ...headers, message, filename: file.filename, 'content-type': file.contentType },
    body: file.content,
    readsAnswer: true,
  };
}

function oneLine(text: string): string {
  return shorten(text, 400);
}

function withinBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxMessageBytes) return text;
  // A stream leaves out the character that the cut splits.
  return new TextDecoder().decode(bytes.subarray(0, maxMessageBytes), { stream: true });
}

/** Encodes a header as RFC 2047 in UTF-8, which ntfy decodes; ASCII stays readable. */
function encodeHeader(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;
}
