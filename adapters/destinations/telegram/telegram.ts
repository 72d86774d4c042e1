import { z } from 'zod';
import type { DestinationResult, Notification } from '../../../core/ports/delivery.ts';
import type { DestinationAddress } from '../../../core/records/watch.ts';
import { describeNotification, findFile, shorten } from '../describe.ts';
import { jsonRequest, multipartRequest, readAnswer } from '../http-sender.ts';
import type { HttpRequest, HttpResult, PermanentStatuses } from '../http-sender.ts';
import { parseJson } from '../../../core/parse-json.ts';

/** Bot API (core.telegram.org/bots/api). 401 and 404: no such bot; 403: it was blocked, or removed from the chat. */
const statuses: PermanentStatuses = { gone: [401, 403, 404], rejected: [400, 413] };

const ownServer = 'https://api.telegram.org';
/** Lengths of a text and a caption, in UTF-16 units, and the size of a photo. */
const maxText = 4_096;
const maxCaption = 1_024;
const maxPhotoBytes = 10_000_000;

/**
 * Returns a message, or a photo or film with the message as its caption. It answers the opening, if Telegram still has
 * that.
 */
export function toTelegramRequest(
  { url = ownServer, token = '', to = '' }: Pick<DestinationAddress, 'url' | 'token' | 'to'>,
  notification: Notification,
): HttpRequest {
  const { opening, id, event } = notification;
  const file = findFile(notification, maxPhotoBytes);
  const isFilm = event.type === 'alert_clip';
  const { severity, isOpen, ...description } = describeNotification(notification);
  const title = plain(description.title, 200);
  const text = describe({ ...description, title }, notification, file ? maxCaption : maxText);
  const entities = [{ type: 'bold', offset: 0, length: title.length }];
  const fields = {
    chat_id: to,
    disable_notification: !isOpen || severity === 'info',
    ...(opening !== undefined && {
      reply_parameters: { message_id: Number(opening), allow_sending_without_reply: true },
    }),
    ...(file
      ? { caption: text, caption_entities: entities, ...(isFilm && { supports_streaming: true }) }
      : { text, entities, link_preview_options: { is_disabled: true } }),
  };
  const [method, field] = isFilm ? ['sendVideo', 'video'] : ['sendPhoto', 'photo'];
  const address = `${url.replace(/\/$/, '')}/bot${token}/${file ? method : 'sendMessage'}`;
  const request = file ? multipartRequest(address, id, fields, field, file) : jsonRequest(address, fields);
  return { ...request, readsAnswer: true };
}

/** The lines that have room: title, explanation and link in any case. */
function describe(
  { title, text, facts }: Pick<ReturnType<typeof describeNotification>, 'title' | 'text' | 'facts'>,
  { console }: Notification,
  max: number,
): string {
  const first = [title, ...(text === '' ? [] : [plain(text, 400)])];
  const last = console ? [console.url, ...(console.note === '' ? [] : [console.note])] : [];
  const join = (shown: readonly string[]) => [...first, ...shown, ...last].join('\n');
  const shown: string[] = [];
  for (const [name, value] of facts) {
    const line = plain(`${name}: ${value}`, 200);
    if (join([...shown, line]).length <= max) shown.push(line);
  }
  return join(shown);
}

/** Returns one line, in which no name is a mention: the text may quote words that the model read in the stream. */
function plain(text: string, maxLength: number): string {
  return shorten(text.replace(/@(?=\w)/g, '@\u2060'), maxLength);
}

const answerSchema = z.object({
  description: z.string().default(''),
  result: z.object({ message_id: z.int() }).optional().catch(undefined),
  parameters: z
    .object({
      retry_after: z.union([z.number(), z.string()]).optional().catch(undefined),
      migrate_to_chat_id: z.int().optional().catch(undefined),
    })
    .catch({}),
});

/** Result of a request, with the chat that a group has become, if it has another id now. */
export type TelegramResult = DestinationResult & { movedTo?: string };

/** Reads the answer: what it means, when to repeat, and the message for later answers to it. */
export function readTelegramAnswer(received: HttpResult): TelegramResult {
  const { outcome, ...result } = readAnswer(received, statuses);
  const { data } = answerSchema.safeParse(parseJson(received.body ?? ''));
  if (result.status === null || !data) return { ...result, outcome };
  const { description, parameters } = data;
  if (outcome === 'delivered')
    return { ...result, outcome, ...(data.result && { receipt: String(data.result.message_id) }) };
  const { retry_after: retryAfter, migrate_to_chat_id: chat } = parameters;
  return {
    ...result,
    outcome: /chat not found|peer_id_invalid/i.test(description) ? 'gone' : outcome,
    error: `Telegram answered ${result.status}: ${shorten(description, 200)}`,
    ...(retryAfter !== undefined && { retryAfter: String(retryAfter) }),
    ...(chat !== undefined && { movedTo: String(chat) }),
  };
}
