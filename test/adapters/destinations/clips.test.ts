import { expect, test } from 'vitest';
import { toDiscordEdit, toDiscordRequest } from '../../../adapters/destinations/discord/discord.ts';
import { toMail } from '../../../adapters/destinations/email/email.ts';
import { createDestinations } from '../../../adapters/destinations/destination-sender.ts';
import type { HttpRequest } from '../../../adapters/destinations/http-sender.ts';
import { toNtfyRequest } from '../../../adapters/destinations/ntfy/ntfy.ts';
import { toPagerdutyRequest } from '../../../adapters/destinations/pagerduty/pagerduty.ts';
import { toSlackRequest } from '../../../adapters/destinations/slack/slack.ts';
import { toTelegramRequest } from '../../../adapters/destinations/telegram/telegram.ts';
import { alertId, notify } from './notifications.ts';

const film = new Uint8Array([0, 0, 0, 24, 102, 116, 121, 112]);
const link = 'https://watch.example.com/evidence/w/9.mp4?expires=1&signature=s';
const carried = notify('alert_clip', { frame: film, frameUrl: link, opening: '42' });
const linked = notify('alert_clip', { frame: null, frameUrl: link });
const url = 'https://receiver.example.com/hook';

async function readForm({ headers, body }: HttpRequest): Promise<FormData> {
  return new Response(new Uint8Array(Buffer.from(body ?? '')), { headers }).formData();
}

async function readFile(form: FormData, name: string) {
  const file = form.get(name);
  if (!(file instanceof File)) throw new Error(`No file ${name}`);
  return { name: file.name, type: file.type, bytes: new Uint8Array(await file.arrayBuffer()) };
}

function readText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

const expected = { name: 'clip.mp4', type: 'video/mp4', bytes: film };

test('Telegram answers the message of the opening with a film', async () => {
  const request = toTelegramRequest({ token: '123:abc', to: '-100' }, carried);
  expect(request.url).toBe('https://api.telegram.org/bot123:abc/sendVideo');
  const form = await readForm(request);
  expect(JSON.parse(readText(form, 'reply_parameters'))).toMatchObject({ message_id: 42 });
  expect([form.get('supports_streaming'), form.get('disable_notification')]).toEqual(['true', 'true']);
  expect(await readFile(form, 'video')).toEqual(expected);
});

test('Discord attaches a film without an image in its embed', async () => {
  const form = await readForm(toDiscordRequest(url, carried));
  const message = JSON.parse(readText(form, 'payload_json'));
  expect(message.attachments).toMatchObject([{ filename: 'clip.mp4' }]);
  expect(message.embeds[0]).not.toHaveProperty('image');
  expect(await readFile(form, 'files[0]')).toEqual(expected);
});

test.each([
  ['https://discord.com/api/webhooks/1/t', 'https://discord.com/api/v10/webhooks/1/t/messages/42'],
  [
    'https://discord.com/api/webhooks/1/t/?thread_id=2',
    'https://discord.com/api/v10/webhooks/1/t/messages/42?thread_id=2',
  ],
])('Discord has the film in the message of the opening: %s', async (address, edited) => {
  const request = toDiscordEdit(address, carried)!;
  expect(request).toMatchObject({ method: 'PATCH', url: edited });
  const form = await readForm(request);
  // Without a list of attachments, those of the message stay.
  expect(JSON.parse(readText(form, 'payload_json'))).toEqual({ allowed_mentions: { parse: [] } });
  expect(await readFile(form, 'files[0]')).toEqual(expected);
});

test.each([
  [200, ['PATCH /hook/messages/42'], '42'],
  [404, ['PATCH /hook/messages/42', 'POST /hook?wait=true'], '43'],
  [413, ['PATCH /hook/messages/42', 'POST /hook?wait=true'], '43'],
])(
  'a message of Discord whose edit has %i gets no second film, or one that is new',
  async (status, requests, id) => {
    const sent: string[] = [];
    const answer = (request: HttpRequest) =>
      request.method === 'PATCH' ? { status, body: '{"id":"42"}' } : { status: 200, body: '{"id":"43"}' };
    const http = {
      send: async (request: HttpRequest) => {
        const { pathname, search } = new URL(request.url);
        sent.push(`${request.method ?? 'POST'} ${pathname}${search}`);
        return { latencyMs: 1, error: null, retryAfter: null, ...answer(request) };
      },
    };
    const destinations = createDestinations({ http, signer: {} as never, now: () => new Date() });
    const result = await destinations.send({ destination_id: 'd', type: 'discord', url }, carried);
    expect(result).toMatchObject({ outcome: 'delivered', receipt: id });
    expect(sent).toEqual(requests);
  },
);

test('a film without a message of its opening is a message of Discord', () => {
  const { opening, ...alone } = carried;
  expect([opening, toDiscordEdit(url, alone), toDiscordEdit(url, { ...linked, opening: '42' })]).toEqual([
    '42',
    undefined,
    undefined,
  ]);
});

test('ntfy has the film as its attachment', () => {
  const { headers, body } = toNtfyRequest(url, {}, carried);
  expect(headers).toMatchObject({ filename: 'clip.mp4', 'content-type': 'video/mp4', priority: '2' });
  expect(body).toEqual(film);
});

test('an e-mail with a film is in the thread of its opening', () => {
  const mail = toMail('ops@example.com', { ...carried, opening: '<msg_3@watchpost>' });
  expect([mail.inReplyTo, mail.references]).toEqual(['<msg_3@watchpost>', '<msg_3@watchpost>']);
  expect(mail.attachments).toMatchObject([{ filename: 'clip.mp4', contentType: 'video/mp4' }]);
});

test.each([
  ['Telegram', () => toTelegramRequest({ token: '123:abc', to: '-100' }, linked)],
  ['Discord', () => toDiscordRequest(url, linked)],
  ['ntfy', () => toNtfyRequest(url, {}, linked)],
])('a film that is too large for %s is a link', (_who, request) => {
  expect(String(request().body).replaceAll('\\\\', '')).toContain(link);
});

test('a film is a link for Slack and PagerDuty, if receivers reach it', () => {
  const slack = JSON.parse(String(toSlackRequest(url, linked).body));
  expect(JSON.stringify(slack.blocks)).toContain(`<${link.replaceAll('&', '&amp;')}|Watch the clip>`);
  const incident = JSON.parse(String(toPagerdutyRequest({ routing_key: 'key' }, linked).body));
  expect(incident).toMatchObject({ dedup_key: alertId, links: [{ href: link }] });
  expect(incident).not.toHaveProperty('images');
  const hidden = { ...linked, isPublic: false };
  expect(String(toSlackRequest(url, hidden).body)).not.toContain('evidence/w');
});

test('a film that Telegram refuses is a link in a second message', async () => {
  const sent: HttpRequest[] = [];
  const destinations = createDestinations({
    http: {
      send: async (request) => {
        sent.push(request);
        const status = sent.length === 1 ? 413 : 200;
        return { status, latencyMs: 1, error: null, retryAfter: null, body: '{}' };
      },
    },
    signer: { sign: async () => ({}), secret: async () => '', fingerprintKey: async () => '' },
    now: () => new Date(0),
  });
  const address = { destination_id: 'chat', type: 'telegram' as const, token: '123:abc', to: '-100' };
  expect(await destinations.send(address, carried)).toMatchObject({
    outcome: 'delivered',
    isPictureRefused: true,
  });
  expect(sent.map(({ url: to }) => to.split('/').at(-1))).toEqual(['sendVideo', 'sendMessage']);
  expect(JSON.parse(String(sent[1]?.body)).text).toContain(`Clip: ${link}`);
});
