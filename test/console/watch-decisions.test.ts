import { expect, test } from 'vitest';
import * as examples from '../../adapters/openapi/examples/watches.ts';
import { progressText, visitLabel } from '../../console/watches/watch-labels.ts';
import type { Watch } from '../../console/api/types.ts';
import { disclosure, withDisclosure } from '../../adapters/vision/pixel/explain.ts';
import { toSpan } from '../../console/alerts/alert-span.ts';
import { withoutDisclosure } from '../../console/alerts/alert-texts.ts';
import { findAlertAction } from '../../console/alerts/alert-keys.ts';
import { emptyDraft, watchRequest } from '../../console/try/draft.ts';
import { createLanes, createSight } from '../../console/watches/lane-spans.ts';
import { addCorner, parseCorners } from '../../console/watches/region-text.ts';
import {
  closingOf,
  newCondition,
  newDestination,
  notifyOptions,
  toWatchDraft,
  toWatchPatch,
} from '../../console/watches/watch-draft.ts';
import { defaultNotify } from '../../core/delivery/receivers.ts';
import { destinationTypeSchema, notifySchema } from '../../core/records/watch.ts';
import { watchRequestSchema } from '../../core/requests/watches.ts';
import { gateRequest } from '../support/watches/watch-records.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

test('a watch takes stream, condition and webhook of the form, without duration, cooldown and maximum of alerts', () => {
  const draft = { ...emptyDraft, streamUrl: ' https://example.com/a.m3u8 ', condition: ' A dog ' };
  expect(watchRequest(draft)).toEqual({
    name: 'A dog',
    stream_url: 'https://example.com/a.m3u8',
    input_mode: 'frames',
    interval_seconds: 10,
    enable_prefilter: true,
    conditions: [{ condition: 'A dog' }],
  });
  const request = watchRequest({ ...draft, webhookUrl: 'https://example.com/h', alertsOnly: true });
  expect(request.destinations).toMatchObject([
    {
      type: 'webhook',
      url: 'https://example.com/h',
      notify: 'openings_and_closings',
    },
  ]);
  expect(watchRequest({ ...draft, condition: 'x'.repeat(500) }).name).toHaveLength(120);
});

test('the form of a destination has the default of the API and only values that the API accepts', () => {
  for (const type of destinationTypeSchema.options) {
    const { notify } = newDestination(type);
    expect(notify).toBe(defaultNotify[type]);
    const values = type === 'heartbeat' ? [] : notifyOptions(type).map(({ value }) => value);
    for (const value of notifySchema.options) {
      const address = { url: 'https://a', routing_key: 'R0', to: 'a@example.com' };
      const destinations = [{ type, notify: value, ...address }];
      const parsed = watchRequestSchema.safeParse({ ...gateRequest, destinations });
      expect([type, value, parsed.success]).toEqual([type, value, values.includes(value)]);
    }
  }
});

test('a watch says which visits it is sure to see, or how often it checks', () => {
  const watch = examples.watch as Watch;
  const label = (shortest_visit_seconds: number) =>
    visitLabel({ ...watch, interval_seconds: 10, state: { ...watch.state, shortest_visit_seconds } });
  expect(label(4)).toBe('Sure to see visits of 4 s and more.');
  expect(label(12)).toBe('Checked every 10 s: visits shorter than 12 s may be missed.');
});

test('a check states the result of each condition, and a reason without any', () => {
  const texts = new Map([
    ['gate', 'The gate is open'],
    ['song', 'A person sings'],
  ]);
  const condition = { state: 'clear', triggered: null, explanation: '' };
  const text = (data: object) => progressText({ data: { explanation: '', ...data } } as never, texts);
  const verdict = { ...condition, condition_id: 'gate', triggered: false, explanation: 'It is closed.' };
  const unjudged = { ...condition, condition_id: 'song', explanation: 'The model cannot judge it.' };
  expect(text({ conditions: [verdict, unjudged], picture: 'ok' })).toBe(
    'The gate is open: does not hold, A person sings: not judged',
  );
  expect(text({ conditions: [{ ...unjudged, explanation: '' }, verdict] })).toBe(
    'The gate is open: does not hold',
  );
  expect(text({ conditions: [verdict], moments_judged: 2 })).toBe(
    'The gate is open: does not hold · 2 earlier moments judged',
  );
  const none = { conditions: [{ ...condition, condition_id: 'gate' }], explanation: 'The stream is stale.' };
  expect(text(none)).toBe('The stream is stale.');
  expect(text({ ...none, prefilter_skipped: true, picture: 'repeated' })).toBe('The stream is stale.');
  expect(text({ ...none, prefilter_skipped: true, picture: 'ok' })).toBe('No motion: skipped.');
});

test('a change of a watch sends only the changed fields', () => {
  const before = {
    ...toWatchDraft(examples.watch as Watch),
    destinations: [
      {
        ...newDestination('slack'),
        destination_id: 'slack',
        address: 'https://a.example/***',
        notify: 'everything' as const,
      },
    ],
    conditions: [{ ...newCondition, condition_id: 'dog', condition: 'A dog' }],
  };
  expect(toWatchPatch(before, before)).toEqual({});
  const conditions = [...before.conditions, { ...newCondition, condition: ' A cat ' }];
  expect(toWatchPatch(before, { ...before, name: ' Yard ', conditions })).toEqual({
    name: 'Yard',
    conditions: [before.conditions[0], { ...newCondition, condition: 'A cat' }],
  });
  const parse = (condition: object) =>
    watchRequestSchema.parse({ ...gateRequest, conditions: [{ condition: 'A dog', ...condition }] })
      .conditions[0];
  for (const alertOn of ['each_visit', 'each_stay', 'by_checks'] as const)
    expect(parse({ alert_on: alertOn })).toMatchObject(closingOf(alertOn));
  expect(toWatchPatch(before, { ...before, lookBack: false })).toEqual({ look_back: false });
  expect(toWatchPatch(before, { ...before, follow: true })).toEqual({ follow: true });
  expect(toWatchPatch(before, { ...before, usd: 2 })).toEqual({
    budget: { model_calls_per_day: null, usd_per_day: 2 },
  });
  expect(toWatchPatch({ ...before, usd: 2 }, before)).toEqual({ budget: null });
  const email = {
    ...newDestination('email'),
    address: ' a@example.com ',
    minSeverity: 'critical' as const,
  };
  expect(toWatchPatch(before, { ...before, destinations: [...before.destinations, email] })).toEqual({
    destinations: [
      {
        destination_id: 'slack',
        type: 'slack',
        url: 'https://a.example/***',
        min_severity: 'info',
        notify: 'everything',
      },
      { type: 'email', to: 'a@example.com', min_severity: 'critical', notify: 'openings' },
    ],
  });
  const labels = ' yard \n\nnorth, gate';
  expect(toWatchPatch(before, { ...before, labels })).toEqual({ labels: ['yard', 'north, gate'] });
  const ntfy = { ...newDestination('ntfy'), address: 'https://ntfy.example/gate' };
  const topic = { type: 'ntfy', url: ntfy.address, min_severity: 'info', notify: 'openings' };
  const sent = (token: string) => toWatchPatch(before, { ...before, destinations: [{ ...ntfy, token }] });
  expect(sent('')).toEqual({ destinations: [topic] });
  expect(sent(' tk_1 ')).toEqual({ destinations: [{ ...topic, token: 'tk_1' }] });
  const regions = [{ mode: 'exclude' as const, corners: '0 0, 50 0, 50 50.5' }];
  expect(toWatchPatch(before, { ...before, regions })).toEqual({
    regions: [
      {
        mode: 'exclude',
        points: [
          [0, 0],
          [0.5, 0],
          [0.5, 0.505],
        ],
      },
    ],
  });
});

test.each([
  [
    '10 20, 90 20',
    [
      [0.1, 0.2],
      [0.9, 0.2],
    ],
  ],
  [' 10  20 ,', [[0.1, 0.2]]],
  ['', []],
  ['10', undefined],
  ['10 200', undefined],
  ['a b', undefined],
])('the corners %j of a region are read as shares or rejected', (text, expected) => {
  expect(parseCorners(text)).toEqual(expected);
});

test('a click adds a corner to a region', () => {
  const first = addCorner({ mode: 'include', corners: '' }, 0.12345, 0.5);
  expect(addCorner(first, 1, 0).corners).toBe('12.3 50, 100 0');
});

test('a lane has the open time of each condition inside the window, and watched hours since the watch exists', () => {
  const window = { startMs: start, endMs: start + 10 * 3_600_000 };
  const closed = {
    at: at(3600),
    reason: 'cleared',
    explanation: '',
    open_seconds: 7200,
    seen_seconds: 7200,
  } as const;
  const conditions = ['dog', 'cat'].map((id) => ({
    ...newCondition,
    condition_id: id,
    condition: id,
  }));
  const alerts = [
    { condition_id: 'dog', opened_at: at(9 * 3600), closed: null },
    { condition_id: 'dog', opened_at: at(-3600), closed },
    { condition_id: 'dog', opened_at: at(-7200), closed: { ...closed, at: at(-60) } },
  ];
  const [dog, cat] = createLanes({ conditions }, alerts, window);
  expect(dog?.open).toEqual([
    { from: 0.9, length: 0.1 },
    { from: 0, length: 0.1 },
  ]);
  expect(dog?.openShare).toBeCloseTo(0.2);
  expect(cat?.open).toEqual([]);
  const seen = { judged_seconds: 600, quiet_seconds: 3000, between_seconds: 0 };
  const hours = [
    { hour: at(0), coverage: 1, ...seen },
    { hour: at(3600), coverage: 0.2, ...seen },
    { hour: at(7200), coverage: null, ...seen },
    { hour: at(10_800), coverage: 1, ...seen, quiet_seconds: 0, between_seconds: 3000 },
  ];
  expect(createSight(hours, at(0), window, 'seen')).toEqual([{ from: 0, length: 0.1 }]);
  expect(createSight(hours, at(1800), window, 'seen')).toEqual([{ from: 0.05, length: 0.05 }]);
  expect(createSight(hours, at(0), window, 'between')).toMatchObject([{ length: 0.1 }]);
});

test('keys review alerts, and shortcuts of the browser stay with the browser', () => {
  const press = (key: string, ctrlKey = false) =>
    findAlertAction({ key, ctrlKey, metaKey: false, altKey: false });
  expect(['j', 'k', 'r', 'w', 'a', 'x'].map((key) => press(key))).toEqual([
    'next',
    'previous',
    'right',
    'wrong',
    'acknowledge',
    undefined,
  ]);
  expect(press('r', true)).toBeUndefined();
});

test('the sentence about the built-in model is left out of a card', () => {
  expect(withoutDisclosure(withDisclosure(['Looks like 1 person (0.74).']))).toBe(
    'Looks like 1 person (0.74).',
  );
  expect(withoutDisclosure(disclosure)).toBe('');
  expect(withoutDisclosure('A van stands there.')).toBe('A van stands there.');
});

const local = (text: string) => new Date(`2026-11-${text}`);

test.each([
  ['of an evening', { day: '26', from: '20:00', to: '21:00' }, '26T20:00', '26T21:00'],
  ['over midnight', { day: '26', from: '22:00', to: '06:00' }, '26T22:00', '27T06:00'],
  ['of a day', { day: '26', from: '', to: '' }, '26T00:00', '27T00:00'],
  ['without a day is of today', { day: '', from: '08:00', to: '09:00' }, '27T08:00', '27T09:00'],
  [
    'without a day that begins later is of yesterday',
    { day: '', from: '20:00', to: '21:00' },
    '26T20:00',
    '26T21:00',
  ],
  ['without a start begins at midnight', { day: '', from: '', to: '09:00' }, '27T00:00', '27T09:00'],
])('the span of a filter %s', (_, { day, ...times }, from, to) => {
  const draft = { day: day && `2026-11-${day}`, ...times };
  expect(toSpan(draft, local('27T12:00').getTime())).toEqual({ from: local(from), to: local(to) });
});

test('a filter without day and times has no span', () =>
  expect(toSpan({ day: '', from: '', to: '' }, start)).toBeUndefined());
