import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toDiscordRequest } from '../../../adapters/destinations/discord/discord.ts';
import { isAllowedRecipient, toMail } from '../../../adapters/destinations/email/email.ts';
import { toPublications } from '../../../adapters/destinations/mqtt/mqtt.ts';
import { toNtfyRequest } from '../../../adapters/destinations/ntfy/ntfy.ts';
import { toPagerdutyRequest } from '../../../adapters/destinations/pagerduty/pagerduty.ts';
import { outcomeFor } from '../../../adapters/destinations/http-sender.ts';
import { slackStatuses, toSlackRequest } from '../../../adapters/destinations/slack/slack.ts';
import { toEnvelope } from '../../../adapters/destinations/webhook/webhook.ts';
import type { Notification, NotifiedEvent } from '../../../core/ports/delivery.ts';
import type { WatchChangeReason } from '../../../core/records/watch-event.ts';
import { pagerdutyEvent, slackMessage } from './vendor-schemas.ts';
import { alertId, events, frame, hostile, notify, watchId } from './notifications.ts';

/** Every format against the documented limits of its vendor, for every event and for hostile texts. */

const types = Object.keys(events) as NotifiedEvent['type'][];
const url = 'https://example.com/secret';
const longest = { explanation: hostile, condition: hostile, by: hostile };

const discordMessage = z.strictObject({
  embeds: z
    .array(
      z.strictObject({
        title: z.string().min(1).max(256),
        description: z.string().max(4_096),
        color: z.int().min(0).max(0xffffff),
        timestamp: z.iso.datetime(),
        url: z.url().optional(),
        footer: z.strictObject({ text: z.string().max(2_048) }).optional(),
        fields: z
          .array(
            z.strictObject({
              name: z.string().min(1).max(256),
              value: z.string().min(1).max(1_024),
              inline: z.boolean(),
            }),
          )
          .max(25),
        image: z.strictObject({ url: z.literal('attachment://frame.jpg') }).optional(),
      }),
    )
    .max(10),
  allowed_mentions: z.strictObject({ parse: z.array(z.string()).max(0) }),
  attachments: z
    .array(
      z.strictObject({
        id: z.literal(0),
        filename: z.literal('frame.jpg'),
        description: z.string().max(1_024),
      }),
    )
    .optional(),
});

test('Slack and PagerDuty get no link that they cannot reach', () => {
  const notification = notify('alert_opened', { frameUrl: 'https://10.0.0.7/frame.jpg', isPublic: false });
  const slack = String(toSlackRequest(url, notification).body);
  expect(slack).toContain('Slack cannot reach this service');
  expect(slack).not.toContain('image_url');
  const body = JSON.parse(String(toPagerdutyRequest({ routing_key: 'k' }, notification)?.body));
  expect(body.images).toBeUndefined();
});

describe.each(types)('the formats of %s', (type) => {
  test.each([{}, longest])('Slack receives blocks within the limits of Block Kit', (data) => {
    for (const frameUrl of [null, 'https://example.com/frame.jpg']) {
      const body = JSON.parse(String(toSlackRequest(url, notify(type, { frameUrl }, data)).body));
      slackMessage.parse(body);
      // Every control character of mrkdwn is escaped, so that a text contains no link, mention or channel but that to
      // the console and the signed one to a clip.
      const marked = body.blocks.flatMap((block: any) => (block.type === 'section' ? block.text.text : []));
      const link = '<https://watch.example.com/console#/alerts/b8e0ff52-5d22-5c3a-9f70-6f8d0f2e7a31|';
      expect(marked.filter((text: string) => text.startsWith(link))).toHaveLength(1);
      const texts = marked.map((text: string) =>
        text.replace(`${link}Open in the console>`, '').replace(`<${frameUrl}|Watch the clip>`, ''),
      );
      expect(texts.join('').replaceAll(/&(?:amp|lt|gt);/g, '')).not.toMatch(/[<>&]/);
    }
  });

  test.each([{}, longest])(
    'Discord receives an embed within its limits, with the frame attached',
    async (data) => {
      const notification = notify(type, {}, data);
      const request = toDiscordRequest(url, notification);
      const { message, file } = await readDiscord(request);
      discordMessage.parse(message);
      const [embed] = message.embeds;
      const texts = [
        embed.title,
        embed.description,
        ...embed.fields.flatMap((field: any) => [field.name, field.value]),
      ];
      expect(texts.join('').length).toBeLessThanOrEqual(6_000);
      expect(texts.slice(1).join('')).not.toMatch(/(?<!\\)[<@*[\]]/);
      expect(file).toEqual(notification.frame);
      expect(embed.image !== undefined).toBe(notification.frame !== null);
    },
  );

  test.each([{}, longest])(
    'PagerDuty receives an event of its published schema, keyed by the alert',
    (data) => {
      const request = toPagerdutyRequest(
        { routing_key: 'e93facc04764012d7bfb002500d5d1a6' },
        notify(type, {}, data),
      );
      expect(request.url).toBe('https://events.pagerduty.com/v2/enqueue');
      const event = pagerdutyEvent.parse(JSON.parse(String(request.body)));
      expect(event.payload !== undefined).toBe(event.event_action === 'trigger');
      if (type.startsWith('alert_')) expect(event.dedup_key).toBe(alertId);
    },
  );

  test.each([{}, longest])(
    'ntfy receives headers of one ASCII line and a message of at most 4 kB',
    (data) => {
      const { headers, body } = toNtfyRequest(url, { token: 'tk_secret' }, notify(type, {}, data));
      for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]+$/);
      expect(Number(headers['priority'])).toBeGreaterThanOrEqual(1);
      expect(Number(headers['priority'])).toBeLessThanOrEqual(5);
      if (typeof body === 'string') expect(Buffer.byteLength(body)).toBeLessThanOrEqual(4_096);
      expect(headers['authorization']).toBe('Bearer tk_secret');
    },
  );

  test.each([{}, longest])('an e-mail has a subject of one line, and plain text', (data) => {
    const mail = toMail('guard@example.com', notify(type, {}, data));
    expect(mail.subject).not.toMatch(/[\r\n]/);
    expect(mail.subject.length).toBeLessThanOrEqual(200);
    expect(mail.text).toContain('Gate 3');
  });

  test('a webhook receives the envelope of the interface, with a link instead of the media key', () => {
    const notification = notify(type, { frameUrl: 'https://example.com/frame', includeFrame: true });
    const body = JSON.parse(JSON.stringify(toEnvelope(notification)));
    expect(Object.keys(body)).toEqual(['type', 'timestamp', 'source_url', 'data']);
    expect(body.data).toMatchObject({
      watch_id: watchId,
      watch_name: 'Gate 3',
      sequence: 17,
      labels: ['north'],
    });
    expect(JSON.stringify(body)).not.toContain('frame_key');
    const hasFrame = notification.frame !== null;
    expect(body.data.frame_url).toBe(hasFrame && type !== 'test' ? 'https://example.com/frame' : undefined);
    expect(body.data.frame_b64).toBe(hasFrame ? Buffer.from(frame).toString('base64') : undefined);
  });

  test('MQTT topics contain no wildcard, and entities of Home Assistant are announced and kept', () => {
    const publications = toPublications(notify(type, {}, longest));
    for (const { topic } of publications) expect(topic).not.toMatch(/[#+\s]/);
    const announced = publications.filter(({ topic }) => topic.startsWith('homeassistant/'));
    expect(announced.map(({ topic }) => topic)).toEqual([
      `homeassistant/binary_sensor/watchpost_${watchId}/condition_truck/config`,
      `homeassistant/binary_sensor/watchpost_${watchId}/stream/config`,
      `homeassistant/camera/watchpost_${watchId}/frame/config`,
    ]);
    for (const { payload, retain } of announced) {
      expect(retain).toBe(true);
      expect(JSON.parse(String(payload))).toMatchObject({
        unique_id: expect.any(String),
        name: expect.any(String),
        device: { identifiers: [`watchpost_${watchId}`] },
      });
    }
  });
});

describe('the course of an alert', () => {
  const routing = { routing_key: 'k'.repeat(32) };
  const actionFor = (type: NotifiedEvent['type']) =>
    JSON.parse(String(toPagerdutyRequest(routing, notify(type))?.body)).event_action;

  test('PagerDuty receives opening, reminder, acknowledgement and closing of one alert', () => {
    expect(
      (['alert_opened', 'alert_reminder', 'alert_acknowledged', 'alert_closed'] as const).map(actionFor),
    ).toEqual(['trigger', 'trigger', 'acknowledge', 'resolve']);
    expect((['stream_lost', 'stream_recovered'] as const).map(actionFor)).toEqual(['trigger', 'resolve']);
  });

  test('ntfy is louder for an open alert than for its closing', () => {
    const priority = (type: NotifiedEvent['type']) =>
      toNtfyRequest(url, {}, notify(type)).headers['priority'];
    expect([priority('alert_opened'), priority('alert_closed')]).toEqual(['5', '2']);
  });

  test('MQTT keeps the state at the attempt: a late closing does not switch off the next alert', () => {
    const kept = (type: NotifiedEvent['type'], current: Notification['current'], name: string) =>
      toPublications(notify(type, { current })).find(({ topic }) => topic === `watchpost/${watchId}/${name}`)
        ?.payload;
    const open = { openConditions: ['truck'], isStreamLost: true };
    const closed = { openConditions: [], isStreamLost: false };
    for (const type of ['alert_opened', 'alert_closed', 'stream_recovered', 'watch_changed'] as const) {
      expect([kept(type, open, 'condition/truck'), kept(type, open, 'stream')]).toEqual(['ON', 'OFF']);
      expect([kept(type, closed, 'condition/truck'), kept(type, closed, 'stream')]).toEqual(['OFF', 'ON']);
    }
    expect(kept('alert_opened', open, 'frame')).toBe(frame);
  });

  test('MQTT removes the entity of a removed condition, and everything of a deleted watch, with or without an alert', () => {
    for (const removed of [
      toPublications(notify('alert_closed', { conditions: [] }, { reason: 'removed' })),
      toPublications(
        notify('watch_changed', { conditions: [] }, { reason: 'changed', removed_conditions: ['truck'] }),
      ),
    ])
      expect(removed.find(({ topic }) => topic.includes('condition_truck'))?.payload).toBe('');
    for (const type of ['alert_closed', 'watch_changed'] as const) {
      const deleted = toPublications(notify(type, { current: null, frame }));
      const kept = deleted.filter(({ retain }) => retain);
      expect(kept.map(({ payload }) => payload)).toEqual(kept.map(() => ''));
      expect(kept.map(({ topic }) => topic)).toEqual(
        expect.arrayContaining([
          `homeassistant/camera/watchpost_${watchId}/frame/config`,
          `watchpost/${watchId}/frame`,
          `watchpost/${watchId}/condition/truck`,
        ]),
      );
    }
  });
});

describe('failures of a watch at PagerDuty', () => {
  const send = (reason: WatchChangeReason, data: object = {}) => {
    const changed = notify('watch_changed', {}, { reason, ...data });
    const { body } = toPagerdutyRequest({ routing_key: 'k' }, changed);
    return pagerdutyEvent.parse(JSON.parse(String(body)));
  };

  test.each([
    ['budget_exhausted', 'budget_renewed'],
    ['model_without_price', 'resumed'],
    ['checks_late', 'checks_in_time'],
    ['model_failed', 'model_recovered'],
    ['destination_failed', 'destination_recovered'],
  ] as const)('%s triggers an alert that %s resolves', (failure, end) => {
    const [begun, ended] = [send(failure), send(end)];
    expect([begun.event_action, ended.event_action]).toEqual(['trigger', 'resolve']);
    expect(begun.dedup_key).toBe(ended.dedup_key);
  });

  test('each failure and each failing destination have an alert of their own', () => {
    const keys = [
      send('budget_exhausted'),
      send('model_failed'),
      send('checks_late'),
      send('destination_failed', { destination_id: 'a' }),
      send('destination_failed', { destination_id: 'b' }),
    ].map(({ dedup_key: key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

test.each([
  ['https://discord.com/api/webhooks/1/t', 'https://discord.com/api/v10/webhooks/1/t?wait=true'],
  [
    'https://ptb.discord.com/api/webhooks/1/t?thread_id=2',
    'https://ptb.discord.com/api/v10/webhooks/1/t?thread_id=2&wait=true',
  ],
  ['https://discord.com/api/v9/webhooks/1/t', 'https://discord.com/api/v9/webhooks/1/t?wait=true'],
  ['https://relay.example/api/webhooks/1/t', 'https://relay.example/api/webhooks/1/t?wait=true'],
])('Discord is asked by a version of its API, whose waits are in seconds: %s', (address, url) => {
  for (const type of ['alert_opened', 'alert_acknowledged'] as const)
    expect(toDiscordRequest(address, notify(type)).url).toBe(url);
});

describe('outcomes and recipients', () => {
  test('a response is delivered, retried, rejected or gone', () => {
    const outcomes = [200, 204, null, 302, 400, 403, 404, 408, 410, 429, 500, 503].map((status) =>
      outcomeFor(status, slackStatuses),
    );
    expect(outcomes.join(' ')).toBe(
      'delivered delivered retry retry rejected gone gone retry gone retry retry retry',
    );
  });

  test('a recipient is allowed by address or domain, and lists, names and other domains are not', () => {
    const allowed = ['Guard@Example.com', '@plant.example'];
    for (const recipient of [
      'guard@example.com',
      "o'neil+night.1@plant.example",
      'jörg@plant.example',
      ' GUARD@example.com ',
    ])
      expect([recipient, isAllowedRecipient(recipient, allowed)]).toEqual([recipient, true]);
    for (const recipient of [
      'other@example.com',
      'a@sub.plant.example',
      'a@evilplant.example',
      'guard@example.com, b@evil.example',
      'b@evil.example <guard@example.com>',
      '"guard@example.com" b@evil.example',
      'b@evil.example@plant.example',
      'b%evil.example@plant.example',
      'evil.example!b@plant.example',
      'b@plant.example|other',
      'guard@example.com\r\nBcc: b@evil.example',
      '',
    ])
      expect([recipient, isAllowedRecipient(recipient, allowed)]).toEqual([recipient, false]);
    expect(isAllowedRecipient('guard@example.com', [])).toBe(false);
  });
});

async function readDiscord({
  headers,
  body,
}: {
  headers: Record<string, string>;
  body: string | Uint8Array | null;
}) {
  if (body === null || typeof body === 'string') return { message: JSON.parse(body ?? ''), file: null };
  const form = await new Response(Buffer.from(body), { headers }).formData();
  const file = form.get('files[0]') as File;
  expect(file.type).toBe('image/jpeg');
  return {
    message: JSON.parse(form.get('payload_json') as string),
    file: new Uint8Array(await file.arrayBuffer()),
  };
}
