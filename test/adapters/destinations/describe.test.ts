import { expect, test } from 'vitest';
import { describeNotification } from '../../../adapters/destinations/describe.ts';
import { toDiscordRequest } from '../../../adapters/destinations/discord/discord.ts';
import { toMail } from '../../../adapters/destinations/email/email.ts';
import { toNtfyRequest } from '../../../adapters/destinations/ntfy/ntfy.ts';
import { toPagerdutyRequest } from '../../../adapters/destinations/pagerduty/pagerduty.ts';
import { toSlackRequest } from '../../../adapters/destinations/slack/slack.ts';
import { hostile, notify } from './notifications.ts';
import type { AlertOpened } from '../../../core/ports/delivery.ts';

const url = 'https://example.com/';

test('an opening of a visit that is over states from when to when it was there, in the zone of the watch', () => {
  const visit = { ended: true, open_seconds: 6, opened_at: '2026-07-01T12:02:10.000Z' };
  const { title, text } = describeNotification(notify('alert_opened', {}, visit));
  expect(title).toBe('Gate 3: A truck blocks the gate (over by now)');
  expect(text).toBe('A white truck stands across the gate. It was there from 14:02:10 to 14:02:16.');
});

/** Returns an opening that a message is about too. */
function openedAt(time: string, data: Partial<AlertOpened['data']> = {}): AlertOpened {
  const { event } = notify('alert_opened', {}, { opened_at: time, ...data });
  if (event.type !== 'alert_opened') throw new Error('Not an opening');
  return event;
}

test('a message about a burst says how many visits, within what time, and when each began', () => {
  const joined = [openedAt('2026-03-01T12:00:20.000Z'), openedAt('2026-03-01T12:00:41.000Z')];
  expect(describeNotification(notify('alert_opened', { joined, labels: [] }))).toEqual({
    title: 'Gate 3: 3 visits within 41 s: A truck blocks the gate',
    text: 'A white truck stands across the gate.',
    facts: [
      ['Times', '13:00:00, 13:00:20, 13:00:41'],
      ['Last', 'Sun, 1 Mar 2026, 13:00:41 (Europe/Berlin)'],
      ['Severity', 'critical'],
      ['Model', 'qwen3-vl:4b'],
    ],
    severity: 'critical',
    isOpen: true,
  });
});

test('a message about a burst of several conditions names each once, and has the highest severity', () => {
  const joined = [
    openedAt('2026-03-01T11:59:00.000Z', { condition: hostile, severity: 'info' }),
    openedAt('2026-03-01T12:00:41.000Z', { severity: 'critical' }),
  ];
  const notification = notify('alert_opened', { joined }, { severity: 'warning' });
  const { title, severity } = describeNotification(notification);
  expect(title).toContain('3 alerts within 1 min 41 s: ');
  expect(title.split('A truck blocks the gate')).toHaveLength(2);
  expect(severity).toBe('critical');
  expect(JSON.stringify(toSlackRequest(url, notification))).toContain('3 alerts within');
});

test.each([
  [[true, true], false],
  [[true, undefined], true],
] as const)('a burst of visits of which ended are %j is open: %s', ([shown, other], isOpen) => {
  const over = (ended: true | undefined) => (ended ? { ended, open_seconds: 6 } : {});
  const joined = [openedAt('2026-03-01T12:00:20.000Z', over(other))];
  const description = describeNotification(notify('alert_opened', { joined }, over(shown)));
  expect([description.isOpen, description.title.endsWith('(over by now)')]).toEqual([isOpen, !isOpen]);
});

test('an explanation without a full stop ends before the sentence that follows it', () => {
  const visit = { ended: true, open_seconds: 6, opened_at: '2026-07-01T12:02:10.000Z' };
  const describe = (explanation: string) =>
    describeNotification(notify('alert_opened', {}, { ...visit, explanation })).text;
  expect(describe('a white truck')).toBe('a white truck. It was there from 14:02:10 to 14:02:16.');
  expect(describe('A truck!')).toBe('A truck! It was there from 14:02:10 to 14:02:16.');
  expect(describeNotification(notify('alert_opened', {}, { explanation: 'a white truck' })).text).toBe(
    'a white truck',
  );
});

test('an opening just after a lost stream states for how long nothing was seen', () => {
  const { text } = describeNotification(notify('alert_opened', {}, { lost_seconds: 95 }));
  expect(text).toContain('The stream gave no picture for 1 min 35 s before.');
});

test('an acknowledgement, a closing and a failure name no model, and every time is local', () => {
  for (const type of ['alert_acknowledged', 'alert_closed', 'stream_lost', 'watch_changed'] as const) {
    const text = JSON.stringify(describeNotification(notify(type, { timeZone: 'UTC' })));
    expect(text).not.toContain('Model');
    expect(text).toContain('(UTC)');
    expect(text).not.toMatch(/\d{4}-\d\d-\d\dT/);
  }
});

test.each([
  ['deleted', 'The watch was deleted.'],
  ['changed', 'The destination was removed.'],
])('a failure that a change by a caller ends is no recovery: %s', (ended_by, text) => {
  const data = { reason: 'destination_recovered', destination_id: 'team', ended_by };
  expect(describeNotification(notify('watch_changed', {}, data))).toMatchObject({
    title: 'Gate 3: no longer: a failing destination',
    text,
  });
});

test.each(['', 'The console was last opened at this address.'])(
  'each message for people links to the console, with the note "%s" about its address',
  (note) => {
    const console = { url: 'http://192.168.1.5:8787/console#/alerts/7', note };
    const opened = notify('alert_opened', { console });
    const ntfy = toNtfyRequest(url, {}, { ...opened, frame: null });
    const texts = {
      slack: String(toSlackRequest(url, opened).body),
      discord: String(toDiscordRequest(url, { ...opened, frame: null }).body),
      ntfy: `${ntfy.headers['click']} ${String(ntfy.body)}`,
      email: toMail('guard@example.com', opened).text,
    };
    for (const text of Object.values(texts)) {
      expect(text).toContain(console.url);
      expect(text).toContain(note);
    }
    const pagerduty = toPagerdutyRequest({ routing_key: 'k' }, opened);
    expect(JSON.parse(String(pagerduty?.body)).client_url).toBe(console.url);
  },
);
