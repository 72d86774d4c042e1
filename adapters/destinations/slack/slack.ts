import type { Notification } from '../../../core/ports/delivery.ts';
import { describeNotification, findClipUrl, shorten } from '../describe.ts';
import { jsonRequest, type HttpRequest, type PermanentStatuses } from '../http-sender.ts';

/**
 * Incoming webhook of Slack. 403 `action_prohibited`, 404 `channel_not_found` and 410 `channel_is_archived` are
 * permanent (api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks).
 */
export const slackStatuses: PermanentStatuses = { gone: [403, 404, 410], rejected: [400, 413] };

/**
 * Lengths of Block Kit: header 150, section and image title 3,000 and 2,000
 * (docs.slack.dev/reference/block-kit/blocks).
 */
const maxHeader = 150;
const maxSection = 3_000;

/** Returns a message of blocks, with a text for notifications and screen readers. */
export function toSlackRequest(url: string, notification: Notification): HttpRequest {
  const { title, text, facts } = describeNotification(notification);
  const lines = facts
    .filter(([name]) => name !== 'Clip')
    .map(([name, value]) => `*${escape(name)}:* ${escape(shorten(value, 300))}`);
  const message = {
    text: escape(shorten(title, maxSection / 5)),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: shorten(title, maxHeader), emoji: false } },
      ...(text === '' ? [] : [section(escape(shorten(text, maxSection / 5)))]),
      section(lines.join('\n')),
      ...linkTo(notification),
      ...evidence(notification, title),
    ],
  };
  return { ...jsonRequest(url, message), readsAnswer: true };
}

/** The address is that of the service, and contains no text of strangers. */
function linkTo({ console }: Notification) {
  if (console === null) return [];
  const note = console.note === '' ? '' : `\n${escape(console.note)}`;
  return [section(`<${escape(console.url)}|Open in the console>${note}`)];
}

function section(text: string) {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
}

/** Slack reads an image from a public address. Without one, the message states it. A film is a link. */
function evidence(notification: Notification, title: string) {
  const { event, frame, frameUrl, isPublic } = notification;
  const clipUrl = findClipUrl(notification);
  if (clipUrl !== null) return [section(`<${escape(clipUrl)}|Watch the clip>`)];
  if (event.type === 'alert_clip') return [];
  if (frameUrl !== null && isPublic)
    return [{ type: 'image', image_url: frameUrl, alt_text: shorten(`Evidence: ${title}`, 1_000) }];
  if (frame === null || event.type === 'test') return [];
  const text = 'No picture: Slack cannot reach this service. Open the alert in the console.';
  return [{ type: 'context', elements: [{ type: 'plain_text', text, emoji: false }] }];
}

/** Escapes the three control characters of mrkdwn, so that a text contains no link, mention or channel. */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
