import { z } from 'zod';
import type { DestinationResult, Notification } from '../../../core/ports/delivery.ts';
import type { Severity } from '../../../core/records/watch.ts';
import { describeNotification, findFile, shorten, type EvidenceFile } from '../describe.ts';
import { jsonRequest, multipartRequest, readAnswer } from '../http-sender.ts';
import type { HttpRequest, HttpResult, PermanentStatuses } from '../http-sender.ts';
import { parseJson } from '../../../core/parse-json.ts';

/**
 * Webhook of Discord. 401 and 404 mean that it was deleted
 * (docs.discord.com/developers/resources/webhook#execute-webhook).
 */
const discordStatuses: PermanentStatuses = { gone: [401, 404, 410], rejected: [400, 413] };

/**
 * Lengths of an embed: title 256, description 4,096, field name 256, value 1,024, together 6,000; file size without a
 * subscription.
 */
const maxTitle = 256;
const maxDescription = 2_000;
const maxValue = 300;
const maxFileBytes = 10_000_000;

const colors: Record<Severity, number> = { critical: 0xd92d20, warning: 0xf79009, info: 0x2e90fa };
const neutral = 0x667085;

/**
 * Returns the URL with a version of the API: Discord copies one without, whose `Retry-After` is in milliseconds
 * (github.com/discord/discord-api-docs/issues/2360).
 */
function withVersion(url: string): string {
  return url.replace(/^(https:\/\/(?:\w+\.)?discord(?:app)?\.com\/api\/)(?=webhooks\/)/i, '$1v10/');
}

/**
 * Returns a message with one embed. The frame is attached, so that Discord needs no access to this service. Discord
 * answers with the message (`wait`).
 */
export function toDiscordRequest(address: string, notification: Notification): HttpRequest {
  const url = withQuery(withVersion(address), (query) => query.set('wait', 'true'));
  const file = findFile(notification, maxFileBytes);
  const content = message(notification, file);
  const request = file
    ? multipartRequest(url, notification.id, { payload_json: content }, 'files[0]', file)
    : jsonRequest(url, content);
  return { ...request, readsAnswer: true };
}

/** Returns the addition of a clip to the message of its opening, which an edit appends; undefined without both. */
export function toDiscordEdit(address: string, notification: Notification): HttpRequest | undefined {
  const { event, opening, id } = notification;
  const film = event.type === 'alert_clip' ? findFile(notification, maxFileBytes) : undefined;
  if (!film || opening === undefined) return undefined;
  const [path, query] = withVersion(address).split('?');
  const url = `${path?.replace(/\/$/, '')}/messages/${opening}${query === undefined ? '' : `?${query}`}`;
  const fields = { payload_json: { allowed_mentions: { parse: [] } } };
  return { ...multipartRequest(url, id, fields, 'files[0]', film), method: 'PATCH', readsAnswer: true };
}

const answerSchema = z.object({ id: z.string().regex(/^\d{1,25}$/) });

/** Reads the answer: what it means, and the message for the clip of its opening. */
export function readDiscordAnswer(received: HttpResult): DestinationResult {
  const result = readAnswer(received, discordStatuses);
  const { data } = answerSchema.safeParse(parseJson(received.body ?? ''));
  return result.outcome === 'delivered' && data ? { ...result, receipt: data.id } : result;
}

function withQuery(url: string, change: (query: URLSearchParams) => void): string {
  const changed = new URL(url);
  change(changed.searchParams);
  return changed.href;
}

function message(notification: Notification, file: EvidenceFile | undefined) {
  const { title, text, facts, severity, isOpen } = describeNotification(notification);
  const { console } = notification;
  const embed = {
    title: shorten(title, maxTitle),
    ...(console && { url: console.url }),
    description: escape(shorten(text, maxDescription / 2)),
    color: severity === null || !isOpen ? neutral : colors[severity],
    timestamp: notification.timestamp,
    fields: facts.map(([name, value]) => ({ name, value: escape(shorten(value, maxValue)), inline: true })),
    ...(console && console.note !== '' && { footer: { text: console.note } }),
    ...(file?.contentType === 'image/jpeg' && { image: { url: `attachment://${file.filename}` } }),
  };
  return {
    embeds: [embed],
    // Prevents mentions: the text may quote words that the model read in the stream.
    allowed_mentions: { parse: [] },
    ...(file && {
      attachments: [{ id: 0, filename: file.filename, description: shorten(title, 1_000) }],
    }),
  };
}

/**
 * Escapes Markdown, so that a text contains no link or formatting. Lists and headings begin a line, and a text is one
 * line.
 */
function escape(text: string): string {
  return text.replace(/[\\*_~`|>[\]()<@]|^[-#]/g, String.raw`\$&`);
}
