import { expect, test } from 'vitest';
import * as examples from '../../adapters/openapi/examples/watches.ts';
import { conditionLabel, progressText, visitLabel } from '../../console/watches/watch-labels.ts';
import { conditionRequestDefaults } from '../../client/openapi-types.ts';
import type { Watch } from '../../console/api/types.ts';
import { withDisclosure } from '../../adapters/vision/pixel/explain.ts';
import { disclosure } from '../../core/disclosure.ts';
import { readFilter, toSpan, writeFilter } from '../../console/alerts/alert-span.ts';
import { findOpening, withoutDisclosure } from '../../console/alerts/alert-texts.ts';
import { findAlertAction } from '../../console/alerts/alert-keys.ts';
import { emptyDraft, toNewWatch } from '../../console/try/draft.ts';
import { summarizeFolds } from '../../console/watches/fold-summaries.ts';
import {
  addCorner,
  moveCorner,
  parseCorners,
  toRectangle,
  whyNoneHidden,
} from '../../console/watches/region-text.ts';
import {
  closingOf,
  newDestination,
  notifyOptions,
  toDuplicate,
  toWatchDraft,
  emptyWatchDraft,
  toWatchPatch,
  toWatchRequest,
} from '../../console/watches/watch-draft.ts';
import { defaultNotify } from '../../core/delivery/receivers.ts';
import { destinationTypeSchema, notifySchema } from '../../core/records/watch.ts';
import { watchPatchSchema, watchRequestSchema } from '../../core/requests/watches.ts';
import { gateRequest } from '../support/watches/watch-records.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

test('a new watch takes stream, condition and webhook of the page, and asks for a name', () => {
  const draft = { ...emptyDraft, stream_url: ' https://example.com/a.m3u8 ', condition: ' A dog ' };
  expect(toNewWatch(draft)).toMatchObject({ name: '', interval_seconds: 10, destinations: [] });
  const request = toWatchRequest({ ...toNewWatch(draft), name: 'Yard' });
  expect(request).toMatchObject({
    name: 'Yard',
    stream_url: 'https://example.com/a.m3u8',
    conditions: [{ condition: 'A dog', cooldown_seconds: 0, alert_on: 'each_visit' }],
  });
  const { name, stream_url, conditions } = request;
  const defaults = watchRequestSchema.parse({
    name,
    stream_url,
    conditions: conditions.map(({ condition }) => ({ condition })),
  });
  expect(watchRequestSchema.parse(request)).toEqual(defaults);
  const notified = toWatchRequest(
    toNewWatch({ ...draft, webhook_url: 'https://example.com/h', alertsOnly: true }),
  );
  expect(notified.destinations).toMatchObject([
    { type: 'webhook', url: 'https://example.com/h', notify: 'openings_and_closings' },
  ]);
});

test('a duplicate has the rules of its watch, but no stream with a masked password, regions and ids', () => {
  const watch = examples.watch as Watch;
  const { name, stream_url, regions, conditions } = toDuplicate({
    ...watch,
    stream_url: 'rtsp://a:***@camera/1',
  });
  expect({ name, stream_url, regions }).toEqual({ name: '', stream_url: '', regions: [] });
  expect(conditions[0]).not.toHaveProperty('condition_id');
  expect(conditions[0]?.checks_to_open).toBe(watch.conditions[0]?.checks_to_open);
  expect(toDuplicate({ ...watch, stream_url: 'rtsp://camera/1' }).stream_url).toBe('rtsp://camera/1');
});

test('the folded parts of the form say in a line what they hold', () => {
  const budget = { model_calls_per_day: null, usd_per_day: 2 };
  const draft = { ...toNewWatch({ ...emptyDraft, condition: 'A person' }), budget };
  expect(summarizeFolds(draft)).toEqual({
    rules: 'Opens after 2 of 3 checks that hold. Each visit is an alert. Severity warning.',
    when: 'Always',
    cost: 'A check every 10 s, at most $2 per day, alerts are kept for 7 days',
    picture: 'One frame, all of the picture, no region, also the time between checks',
  });
  const spans = [{ days: ['sat' as const, 'sun' as const], from: '18:00', to: '08:00' }];
  expect(summarizeFolds({ ...draft, schedule: { time_zone: 'UTC', active: spans } }).when).toBe(
    'sat, sun 18:00–08:00 (UTC)',
  );
});

test('the form of a destination has the default of the API and only values that the API accepts', () => {
  for (const type of destinationTypeSchema.options) {
    const { notify } = newDestination(type);
    expect(notify).toBe(defaultNotify[type]);
    const values = type === 'heartbeat' ? [] : notifyOptions(type).map(({ value }) => value);
    for (const value of notifySchema.options) {
      const address = { url: 'https://a', routing_key: 'R0', to: 'a@example.com' };
      const bot = type === 'telegram' && { to: '-42123', token: `123456:${'a'.repeat(35)}` };
      const destinations = [{ type, notify: value, ...address, ...bot }];
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
  expect(label(11.2)).toBe('Checked every 10 s: visits shorter than 12 s may be missed.');
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
    conditions: [{ ...conditionRequestDefaults, condition_id: 'dog', condition: 'A dog' }],
  };
  expect(toWatchPatch(before, before)).toEqual({});
  const conditions = [...before.conditions, { ...conditionRequestDefaults, condition: ' A cat ' }];
  expect(toWatchPatch(before, { ...before, name: ' Yard ', conditions })).toEqual({
    name: 'Yard',
    conditions: [before.conditions[0], { ...conditionRequestDefaults, condition: 'A cat' }],
  });
  const parse = (condition: object) =>
    watchRequestSchema.parse({ ...gateRequest, conditions: [{ condition: 'A dog', ...condition }] })
      .conditions[0];
  for (const alertOn of ['each_visit', 'each_stay', 'by_checks'] as const)
    expect(parse({ alert_on: alertOn })).toMatchObject(closingOf(alertOn));
  expect(toWatchPatch(before, { ...before, look_back: false })).toEqual({ look_back: false });
  expect(toWatchPatch(before, { ...before, follow: true })).toEqual({ follow: true });
  const budget = { model_calls_per_day: null, usd_per_day: 2 };
  expect(toWatchPatch(before, { ...before, budget })).toEqual({ budget });
  expect(toWatchPatch({ ...before, budget }, before)).toEqual({ budget: null });
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
  const still = { ...ntfy, includeClip: false };
  expect(toWatchPatch(before, { ...before, destinations: [still] })).toEqual({
    destinations: [{ ...topic, include_clip: false }],
  });
  const { destinations } = examples.watch as Watch;
  const stored = toWatchDraft({
    ...(examples.watch as Watch),
    destinations: destinations.map((each) => ({ ...each, include_clip: false })),
  });
  expect(stored.destinations).toMatchObject([{ includeClip: false }]);
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

test('a drag in any direction draws a rectangle inside the frame', () => {
  expect(toRectangle({ mode: 'exclude', corners: '' }, [0.9, 0.5], [0.1, 1.2])).toEqual({
    mode: 'exclude',
    corners: '10 50, 90 50, 90 100, 10 100',
  });
});

test.each([
  [0, undefined],
  [3, undefined],
  [4, 'A watch has at most 4 regions. Edit it to change or remove one.'],
])('a watch with %i regions has this reason to hide no further part: %s', (count, reason) => {
  const region = { mode: 'exclude' as const, points: parseCorners('0 0, 5 0, 5 5') ?? [] };
  expect(whyNoneHidden(Array.from({ length: count }, () => region))).toBe(reason);
  expect(whyNoneHidden(null)).toBeUndefined();
});

test('a dragged corner stays inside the frame', () => {
  const region = { mode: 'include', corners: '10 20, 90 20, 90 80' } as const;
  expect(moveCorner(region, 1, 0.5, 0.25).corners).toBe('10 20, 50 25, 90 80');
  expect(moveCorner(region, 2, 1.4, -0.1).corners).toBe('10 20, 90 20, 100 0');
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

test.each([
  ['begins before it', '00:01:52', { text: 'Opening at 8 s', seconds: 8 }],
  ['begins with it', '00:02:01', { text: 'Opening at 0 s', seconds: 0 }],
  ['does not show it', '00:02:07', { text: 'Begins 7 s after the opening', seconds: null }],
])('a clip leads to the opening unless it lacks it: it %s', (_what, from, expected) => {
  expect(findOpening('2026-11-26T00:02:00Z', `2026-11-26T${from}Z`)).toEqual(expected);
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

test('a reworded condition is another one, and the rest keeps its id', () => {
  const before = toWatchDraft(examples.watch as Watch);
  const [first] = before.conditions;
  const conditions = [{ ...first!, condition: 'A red van is at the gate' }, ...before.conditions.slice(1)];
  const [reworded] = toWatchPatch(before, { ...before, conditions }).conditions!;
  expect(reworded).not.toHaveProperty('condition_id');
  const severe = [{ ...first!, severity: 'info' as const }, ...before.conditions.slice(1)];
  const [kept] = toWatchPatch(before, { ...before, conditions: severe }).conditions!;
  expect(kept!.condition_id).toBe(first!.condition_id);
});

test('an open condition that the newest verdict denies says that it is not there now', () => {
  const state = {
    state: 'open',
    unconfirmed: false,
    unjudged: false,
    held_at: at(0),
    seen_at: at(5),
  } as const;
  expect(conditionLabel(state as never, 'active').label).toBe('open, not there now');
  expect(conditionLabel({ ...state, seen_at: at(0) } as never, 'active').label).toBe('open');
});

test('a clear condition says that it is snoozed, or that nobody looks', () => {
  const clear = { state: 'clear', unconfirmed: false, unjudged: false, held_at: null, snoozed_until: null };
  const label = (change: object, status: 'active' | 'stream_lost') =>
    conditionLabel({ ...clear, ...change } as never, status).label;
  const later = new Date(Date.now() + 3_600_000).toISOString();
  expect(label({ snoozed_until: later }, 'active')).toMatch(/^snoozed until \d/);
  expect(label({ snoozed_until: new Date(0).toISOString() }, 'active')).toBe('clear');
  expect(label({}, 'stream_lost')).toBe('clear at the last check');
});

test('an emptied number of the form takes the default of the service, in a new watch and in a change', () => {
  const empty = {
    ...emptyWatchDraft,
    interval_seconds: null,
    clip_duration_seconds: null,
    confirm_seconds: null,
    retention_days: null,
  };
  const request = toWatchRequest(empty);
  for (const field of ['interval_seconds', 'clip_duration_seconds', 'confirm_seconds', 'retention_days'])
    expect(request).not.toHaveProperty(field);
  expect(toWatchPatch(emptyWatchDraft, { ...emptyWatchDraft, interval_seconds: null })).toEqual({
    interval_seconds: null,
  });
});

test('clips that are ticked or emptied are those of the schema, and unticked ones end', () => {
  const toDraft = (clip: Watch['evidence_clip']) =>
    toWatchDraft({ ...(examples.watch as Watch), evidence_clip: clip });
  const none = toDraft(null);
  const filmed = toDraft({ before_seconds: 3, after_seconds: 5 });
  const ticked = { evidence_clip: { before_seconds: null, after_seconds: null } };
  expect(toWatchPatch(none, { ...none, ...ticked })).toEqual({ evidence_clip: {} });
  expect(toWatchPatch(filmed, { ...filmed, ...ticked })).toEqual({ evidence_clip: {} });
  expect(watchPatchSchema.parse({ evidence_clip: {} }).evidence_clip).toMatchObject({ before_seconds: 8 });
  const unticked = { evidence_clip: { before_seconds: 0, after_seconds: 0 } };
  expect(toWatchPatch(filmed, { ...filmed, ...unticked })).toEqual({ evidence_clip: null });
  expect(toWatchPatch(none, { ...none, ...unticked })).toEqual({});
  expect(toWatchRequest({ ...none, ...ticked })).not.toHaveProperty('evidence_clip');
});

test('the address of the alerts has their filter, and an empty or foreign one filters nothing', () => {
  const none = { state: '', watchId: '', conditionId: '', day: '', from: '', to: '' } as const;
  const filter = { ...none, state: 'open', watchId: 'a b', from: '20:00' } as const;
  expect(readFilter(writeFilter(filter))).toEqual(filter);
  expect(writeFilter(none)).toBe('#/alerts');
  expect(readFilter('#/alerts')).toBeUndefined();
  expect(readFilter('#/alerts?state=lost&other=1')).toEqual(none);
});
