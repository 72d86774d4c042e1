import { expect, describe, test } from 'vitest';
import { watchPatchSchema, watchRequestSchema } from '../../../core/requests/watches.ts';

const minimal = {
  name: 'Gate',
  stream_url: 'rtsp://camera/1',
  conditions: [{ condition: 'A person is here' }],
};

const bot = { type: 'telegram', to: '-42123', token: `123456:${'a'.repeat(35)}` };

describe('the body of POST /watches', () => {
  test('a watch with a name, a stream and a condition gets the defaults of the table', () => {
    expect(watchRequestSchema.parse(minimal)).toEqual({
      ...minimal,
      interval_seconds: 10,
      input_mode: 'frames',
      clip_duration_seconds: 3,
      enable_prefilter: true,
      look_back: true,
      follow: false,
      conditions: [
        {
          condition: 'A person is here',
          checks_to_open: 2,
          checks_considered: 3,
          open_after_seconds: 0,
          alert_on: 'each_visit',
          checks_to_close: 2,
          close_after_seconds: 4,
          cooldown_seconds: 0,
          remind_seconds: null,
          severity: 'warning',
          sensitivity: 'normal',
        },
      ],
      confirm_seconds: 2,
      schedule: null,
      budget: null,
      destinations: [],
      regions: null,
      retention_days: 7,
      memory_days: null,
      scene: true,
      labels: [],
    });
  });

  const condition = { condition: 'A person is here' };

  test('the numbers of a condition that closes by checks are what they were', () => {
    const close = (rule: object) => {
      const { conditions } = watchRequestSchema.parse({
        ...minimal,
        conditions: [{ ...condition, ...rule }],
      });
      const [{ alert_on, checks_to_close, close_after_seconds }] = [conditions[0]!];
      return [alert_on, checks_to_close, close_after_seconds];
    };
    expect(close({ checks_to_close: 1 })).toEqual(['by_checks', 1, 0]);
    expect(close({ close_after_seconds: 90 })).toEqual(['by_checks', 3, 90]);
    expect(close({ alert_on: 'by_checks' })).toEqual(['by_checks', 3, 0]);
    expect(close({ alert_on: 'each_stay' })).toEqual(['each_stay', 2, 30]);
    expect(close({ alert_on: 'each_stay', close_after_seconds: 300 })).toEqual(['each_stay', 2, 300]);
    expect(close({ alert_on: 'each_visit', checks_to_close: 2, close_after_seconds: 4 })).toEqual([
      'each_visit',
      2,
      4,
    ]);
  });

  const times = (length: number, item: object) => Array.from({ length }, () => item);
  const rule = (fields: object) => ({ conditions: [{ ...condition, ...fields }] });
  const hours = (time_zone: string, span: object = {}) => ({
    schedule: { time_zone, active: [{ days: ['mon'], from: '08:00', to: '18:00', ...span }] },
  });
  const send = (destination: object) => ({ destinations: [destination] });
  const region = (...points: number[][]) => ({ regions: [{ points }] });
  const [corner, other] = [
    [0, 0],
    [1, 1],
  ];
  const hook = { type: 'webhook', url: 'https://a' };
  const pager = { type: 'pagerduty', routing_key: 'R0', notify: 'openings' };

  test.each<[string, object, string]>([
    ['no condition', { conditions: [] }, 'conditions'],
    ['nine conditions', { conditions: times(9, condition) }, 'conditions'],
    [
      'a number that a visit does not have',
      rule({ alert_on: 'each_visit', checks_to_close: 1 }),
      'conditions.0.checks_to_close',
    ],
    ['a threshold above the number of checks', rule({ checks_to_open: 4 }), 'conditions.0.checks_to_open'],
    ['eleven considered checks', rule({ checks_considered: 11 }), 'conditions.0.checks_considered'],
    ['a reminder below a minute', rule({ remind_seconds: 59 }), 'conditions.0.remind_seconds'],
    [
      'two conditions with one id',
      { conditions: times(2, { ...condition, condition_id: 'a' }) },
      'conditions',
    ],
    ['a condition id with a space', rule({ condition_id: 'a b' }), 'conditions.0.condition_id'],
    [
      'a confirming check after the next check',
      { interval_seconds: 5, confirm_seconds: 6 },
      'confirm_seconds',
    ],
    ['an unknown time zone', hours('Mars/Olympus'), 'schedule.time_zone'],
    ['an offset as time zone', hours('+02:00'), 'schedule.time_zone'],
    ['a span without length', hours('UTC', { to: '08:00' }), 'schedule.active.0.to'],
    ['a span that begins at 24:00', hours('UTC', { from: '24:00' }), 'schedule.active.0.from'],
    ['a budget without a limit', { budget: {} }, 'budget.model_calls_per_day'],
    ['a budget of no dollars', { budget: { usd_per_day: 0 } }, 'budget.usd_per_day'],
    ['six destinations', { destinations: times(6, hook) }, 'destinations'],
    ['a webhook without URL', send({ type: 'webhook' }), 'destinations.0.url'],
    ['Telegram without a token', send({ ...bot, token: undefined }), 'destinations.0.token'],
    ['a token with a path', send({ ...bot, token: `${bot.token}/../x` }), 'destinations.0.token'],
    ['Telegram without a chat', send({ ...bot, to: undefined }), 'destinations.0.to'],
    ['a chat by its title', send({ ...bot, to: 'Our family' }), 'destinations.0.to'],
    ['PagerDuty without key', send({ type: 'pagerduty' }), 'destinations.0.routing_key'],
    ['e-mail without recipient', send({ type: 'email' }), 'destinations.0.to'],
    [
      'a heartbeat that is notified',
      send({ ...hook, type: 'heartbeat', notify: 'openings' }),
      'destinations.0.notify',
    ],
    [
      'a closing after more than an hour',
      rule({ close_after_seconds: 3601 }),
      'conditions.0.close_after_seconds',
    ],
    ['PagerDuty without closings', send(pager), 'destinations.0.notify'],
    ['a region of two points', region(corner, other), 'regions.0.points'],
    ['a point outside of the frame', region(corner, other, [0, 1.1]), 'regions.0.points.2.1'],
    ['retention of 91 days', { retention_days: 91 }, 'retention_days'],
    ['memory of 91 days', { memory_days: 91 }, 'memory_days'],
    ['memory of less than a day', { memory_days: 0.5 }, 'memory_days'],
    ['nine labels', { labels: Array(9).fill('a') }, 'labels'],
  ])('%s is rejected at its field', (_, fields, field) => {
    const { error } = watchRequestSchema.safeParse({ ...minimal, ...fields });
    expect(error?.issues.map(({ path }) => path.join('.'))).toContain(field);
  });

  test('a whole day is a span from 00:00 to 24:00', () => {
    const schedule = { time_zone: 'Europe/Berlin', active: [{ days: ['sat'], from: '00:00', to: '24:00' }] };
    expect(watchRequestSchema.parse({ ...minimal, schedule }).schedule).toEqual(schedule);
  });
});

describe('the body of PATCH /watches/{watch_id}', () => {
  test('an empty patch has no field, so that no default overwrites a value', () => {
    expect(watchPatchSchema.parse({})).toEqual({});
  });

  test('null is accepted where a default exists, and rejected for a name', () => {
    expect(watchPatchSchema.parse({ schedule: null, retention_days: null, labels: null })).toBeTruthy();
    expect(watchPatchSchema.safeParse({ name: null }).success).toBe(false);
  });

  test('a destination may omit its unchanged address', () => {
    const destinations = [{ destination_id: 'team', type: 'slack' }];
    expect(watchPatchSchema.safeParse({ destinations }).success).toBe(true);
  });
});
