import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createDestinations } from '../../../adapters/destinations/destination-sender.ts';
import { createHttpSender } from '../../../adapters/destinations/http-sender.ts';
import { toTelegramRequest } from '../../../adapters/destinations/telegram/telegram.ts';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import type { Notification, NotifiedEvent } from '../../../core/ports/delivery.ts';
import { startReceiver } from './receiver.ts';
import { events, frame, hostile, notify } from './notifications.ts';

const token = `123456789:${'AbC-_'.repeat(7)}`;
const chat = '-1001234567890';

type Message = Record<string, any>;
type Answer = { error_code: number; description: string; parameters?: object };

const entities = z.array(
  z.strictObject({ type: z.literal('bold'), offset: z.literal(0), length: z.int().positive() }),
);
const common = {
  chat_id: z.string(),
  disable_notification: z.boolean(),
  reply_parameters: z
    .strictObject({ message_id: z.int(), allow_sending_without_reply: z.literal(true) })
    .optional(),
};
/** Fields of the methods with the limits of their documentation. */
const methods = {
  sendMessage: z.strictObject({
    ...common,
    text: z.string().min(1).max(4096),
    entities,
    link_preview_options: z.strictObject({ is_disabled: z.literal(true) }),
  }),
  sendPhoto: z.strictObject({
    ...common,
    caption: z.string().min(1).max(1024),
    caption_entities: entities,
    photo: z.instanceof(File),
  }),
};

/** Starts a server of the Bot API that accepts messages of one bot, unless `refuse` answers them. */
async function startBot(refuse: (message: Message, number: number) => Answer | undefined = () => undefined) {
  const messages: Message[] = [];
  const { url, received } = await startReceiver((request, response) => void answer(request, response));
  return { url: new URL(url).origin, messages };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '', 'http://bot').pathname;
    const [, method = ''] = /^\/bot[^/]+\/(\w+)$/.exec(path) ?? [];
    const { body, headers } = received.at(-1)!;
    const fields = await readFields(body, String(headers['content-type']));
    messages.push({ method, ...fields });
    const isBot = path.startsWith(`/bot${token}/`);
    const refusal = isBot
      ? refuse(fields, messages.length)
      : { error_code: 401, description: 'Unauthorized' };
    if (!refusal) methods[method as keyof typeof methods].parse(fields);
    response.writeHead(refusal?.error_code ?? 200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(
        refusal ? { ok: false, ...refusal } : { ok: true, result: { message_id: 40 + messages.length } },
      ),
    );
  }
}

async function readFields(body: string, type: string): Promise<Message> {
  if (type === 'application/json') return JSON.parse(body);
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  return Object.fromEntries(
    [...form].map(([name, value]) => [name, typeof value === 'string' ? readField(name, value) : value]),
  );
}

function readField(name: string, text: string): unknown {
  return name === 'chat_id' || name === 'caption' ? text : JSON.parse(text);
}

async function send(url: string, notification: Notification, to = chat, withToken = token) {
  const guard = createEgressGuard({ allowRanges: ['127.0.0.0/8'] });
  const http = createGuardedHttp(guard);
  onTestFinished(() => http.close());
  const destinations = createDestinations({
    http: createHttpSender({ http, version: '1', elapsedMs: () => 0 }),
    signer: { sign: async () => ({}), secret: async () => '', fingerprintKey: async () => '' },
    now: () => new Date(0),
  });
  return destinations.send(
    { destination_id: 'phone', type: 'telegram', url, token: withToken, to },
    notification,
  );
}

test('an opening is a photo, its closing a silent message that answers it', async () => {
  const bot = await startBot();
  const opened = await send(bot.url, notify('alert_opened'));
  expect(opened).toMatchObject({ outcome: 'delivered', receipt: '41' });
  await send(bot.url, notify('alert_closed', { frame: null, opening: '41' }));
  const [first, second] = bot.messages as [Message, Message];
  expect(first).toMatchObject({ method: 'sendPhoto', chat_id: chat, disable_notification: false });
  expect(first['caption']).toContain('Gate 3: A truck blocks the gate\nA white truck');
  expect(first['caption']).toContain('https://watch.example.com/console');
  expect(first['photo'].size).toBeGreaterThanOrEqual(frame.length);
  expect(second).toMatchObject({
    method: 'sendMessage',
    disable_notification: true,
    reply_parameters: { message_id: 41 },
  });
});

test('an alert of the severity info makes no sound', async () => {
  const bot = await startBot();
  await send(bot.url, notify('alert_opened', {}, { severity: 'info' }));
  expect(bot.messages).toMatchObject([{ disable_notification: true }]);
});

test('every event is within the limits, and no text of strangers mentions anybody', () => {
  const longest = { explanation: hostile, condition: hostile, by: hostile };
  for (const type of Object.keys(events) as NotifiedEvent['type'][])
    for (const picture of [null, frame]) {
      const labels = Array.from({ length: 8 }, () => 'l'.repeat(64));
      const sent = notify(type, { frame: picture, labels, watchName: '@gate '.repeat(20) }, longest);
      const { url, body } = toTelegramRequest({ token, to: chat }, sent);
      expect(url).toMatch(/^https:\/\/api\.telegram\.org\/bot/);
      const text = Buffer.from(body!).toString();
      expect(text).not.toMatch(/@(?:gate|everyone|evil)/);
      if (picture === null) methods.sendMessage.parse(JSON.parse(text));
      else expect(/name="caption"\r\n\r\n([^]*?)\r\n--/.exec(text)![1]!.length).toBeLessThanOrEqual(1024);
    }
});

test.each([17, '17'])('a limit is retried after the time in the answer (%j)', async (wait) => {
  const description = 'Too Many Requests: retry after 17';
  const parameters = { retry_after: wait, migrate_to_chat_id: null };
  const bot = await startBot(() => ({ error_code: 429, description, parameters }));
  expect(await send(bot.url, notify('alert_opened'))).toMatchObject({
    outcome: 'retry',
    retryAfter: '17',
    error: `Telegram answered 429: ${description}`,
  });
  expect(bot.messages).toHaveLength(1);
});

test.each([
  [403, 'Forbidden: bot was blocked by the user', 'gone', 1],
  [403, 'Forbidden: bot was kicked from the supergroup chat', 'gone', 1],
  [400, 'Bad Request: chat not found', 'gone', 1],
  [401, 'Unauthorized', 'gone', 1],
  [404, 'Not Found', 'gone', 1],
  [500, 'Internal Server Error', 'retry', 1],
  [400, 'Bad Request: message is too long', 'rejected', 2],
])('the answer %i "%s" is %s', async (code, description, outcome, requests) => {
  const bot = await startBot(() => ({ error_code: code, description }));
  expect(await send(bot.url, notify('alert_opened'))).toMatchObject({ outcome, status: code });
  expect(bot.messages).toHaveLength(requests);
});

test('a message follows a group that has become a supergroup', async () => {
  const bot = await startBot(({ chat_id: id }) =>
    id === '-42'
      ? {
          error_code: 400,
          description: 'Bad Request: group chat was upgraded to a supergroup chat',
          parameters: { migrate_to_chat_id: Number(chat) },
        }
      : undefined,
  );
  expect(await send(bot.url, notify('alert_opened'), '-42')).toMatchObject({ outcome: 'delivered' });
  expect(bot.messages.map(({ chat_id: id }) => id)).toEqual(['-42', chat]);
});

test('an answer that is no JSON counts by its status, and no result names the token', async () => {
  const { url } = await startReceiver((_, response) => void response.writeHead(200).end('ok'));
  expect(await send(new URL(url).origin, notify('alert_opened'))).toMatchObject({ outcome: 'delivered' });
  const bot = await startBot();
  const refused = await send(bot.url, notify('alert_opened'), chat, token.replace('1', '2'));
  expect(refused).toMatchObject({ outcome: 'gone' });
  expect(JSON.stringify([refused, await send('http://127.0.0.1:1', notify('test'))])).not.toContain('AbC');
});
