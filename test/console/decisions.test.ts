import { describe, expect, test } from 'vitest';
import * as examples from '../../adapters/openapi/examples/watches.ts';
import type { JobEvent, Watch } from '../../console/api/types.ts';
import { configLabels } from '../../console/jobs/config-labels.ts';
import { activityData, axisTimes } from '../../console/jobs/activity-data.ts';
import { timelineItems } from '../../console/jobs/timeline-items.ts';
import { findAlertAction } from '../../console/alerts/alert-keys.ts';
import { emptyDraft, toDraft, watchRequest } from '../../console/try/draft.ts';
import { createLanes, createSight } from '../../console/watches/lane-spans.ts';
import { addCorner, parseCorners } from '../../console/watches/region-text.ts';
import {
  newCondition,
  newDestination,
  notifyOptions,
  toWatchDraft,
  toWatchPatch,
} from '../../console/watches/watch-draft.ts';
import { defaultNotify } from '../../core/event/receivers.ts';
import { destinationTypeSchema, notifySchema } from '../../core/records/watch.ts';
import { watchRequestSchema } from '../../core/requests/watches.ts';
import { gateRequest } from '../support/watch-records.ts';
import { checkCost } from '../../console/try/price.ts';
import { requestCode } from '../../console/try/request-code.ts';
import { logLines } from '../../console/operations/log-lines.ts';
import { savings } from '../../console/operations/savings.ts';
import { parseRoute } from '../../console/shell/routes.ts';
import { duration, relativeTime } from '../../console/time/format.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

let sequence = 0;
const place = () => ({ job_id: 'b2b9c1de-0000-4000-8000-000000000000', sequence: (sequence += 1) });

function check(seconds: number, data: Record<string, unknown> = {}): JobEvent {
  return {
    type: 'progress',
    timestamp: at(seconds),
    source_url: 'https://example.com/live.m3u8',
    data: {
      ...place(),
      check: seconds,
      checks_performed: 1,
      frames_skipped: 0,
      triggers_fired: 0,
      triggered: false,
      prefilter_skipped: false,
      motion: 0.1,
      explanation: 'No.',
      captured_at: at(seconds),
      stream: 'ok',
      picture: 'ok',
      next_check_at: null,
      ...data,
    },
  };
}

const quiet = (seconds: number) => check(seconds, { triggered: null, prefilter_skipped: true, motion: 0 });

function alert(seconds: number): JobEvent {
  return {
    type: 'watch_triggered',
    timestamp: at(seconds),
    source_url: 'https://example.com/live.m3u8',
    data: {
      ...place(),
      condition: 'x',
      triggered: true,
      explanation: 'Yes.',
      prefilter_skipped: false,
      captured_at: at(seconds),
      triggers_fired: 1,
      frame_url: 'https://example.com/api/jobs/x/media/1',
    },
  };
}

describe('timelineItems', () => {
  test('the timeline is newest first and merges consecutive checks without motion', () => {
    const items = timelineItems([check(5), quiet(10), quiet(15), check(20), quiet(25)], 'all');
    expect(items.map((item) => (item.kind === 'quiet' ? item.checks.length : item.event.type))).toEqual([
      1,
      'progress',
      2,
      'progress',
    ]);
  });

  test('the timeline omits the check of an alert', () => {
    const items = timelineItems([check(5, { triggered: true }), alert(5)], 'all');
    expect(items).toMatchObject([{ kind: 'event', event: { type: 'watch_triggered' } }]);
  });

  test('the findings filter omits checks', () => {
    expect(timelineItems([check(5), quiet(10), alert(15)], 'findings')).toHaveLength(1);
  });
});

test('configWords returns readable names and values and omits unused fields', () => {
  const config = {
    condition: 'A ship is in the lock',
    interval_seconds: 10,
    input_mode: 'frames' as const,
    clip_duration_seconds: 3,
    monitor_duration_seconds: 600,
    trigger_cooldown_seconds: 30,
    max_triggers: null,
    enable_prefilter: true,
    webhook_url: 'https://example.com/hook',
  };
  expect(configLabels(config)).toEqual([
    ['Condition', 'A ship is in the lock'],
    ['Interval', '10 s'],
    ['Input mode', 'frames'],
    ['Monitor duration', '10 min'],
    ['Trigger cooldown', '30 s'],
    ['Max triggers', 'No limit'],
    ['Prefilter', 'On'],
    ['Webhook URL', 'https://example.com/hook'],
  ]);
  expect(configLabels({ ...config, input_mode: 'clip' })).toContainEqual(['Clip duration', '3 s']);
});

describe('activityData', () => {
  const span = { from: start, to: start + 100_000 };

  test('adjacent ticks share a column with the maximum motion and the highest-ranked outcome', () => {
    const { columns } = activityData(
      [check(5, { motion: 0.4 }), check(6, { triggered: true, motion: 0.2 }), alert(6), check(95)],
      [],
      span,
      10,
    );
    expect(columns).toMatchObject([
      { motion: 0.4, outcome: 'alert', checks: 2 },
      { outcome: 'no', checks: 1 },
    ]);
  });

  test('the first capture has no motion value, because it has no reference', () => {
    expect(activityData([check(1, { motion: 1 })], [], span, 10).columns).toMatchObject([{ motion: null }]);
  });

  test.each([
    [{ stream: 'stale' }, 'away'],
    [{ triggered: null, picture: 'black' }, 'away'],
    [{ triggered: null }, 'unanswered'],
    [{ triggered: true }, 'held'],
  ])('the chart shows a check with %j as %s', (data, outcome) => {
    expect(activityData([check(5, data)], [], span, 10).columns).toMatchObject([{ outcome }]);
  });

  test('the chart shows a digest sample as sampled, not as unanswered', () => {
    const config = {
      window_minutes: 1,
      capture_interval_seconds: 30,
      max_windows: 1,
      digest_duration_seconds: 60,
      input_mode: 'frames',
      include_frames: true,
      enable_prefilter: true,
    } as const;
    const started: JobEvent = {
      type: 'job_started',
      timestamp: at(0),
      source_url: 'https://example.com/live.m3u8',
      data: {
        ...place(),
        job_type: 'live-digest',
        status: 'running',
        config,
        events_url: 'https://example.com/api/jobs/x/events',
      },
    };
    const { columns } = activityData([started, check(5, { triggered: null })], [], span, 10);
    expect(columns).toMatchObject([{ outcome: 'sampled' }]);
  });

  test('the axis has round times and at most the given number of them', () => {
    const times = axisTimes(start + 3_000, start + 63_000, 7);
    expect(times.length).toBeLessThanOrEqual(7);
    expect(times.every((time) => time % 10_000 === 0)).toBe(true);
    expect(axisTimes(start, start + 86_400_000, 4).length).toBeLessThanOrEqual(5);
  });
});

describe('requestCode', () => {
  test('generated code contains the entered values and never the key', () => {
    const draft = { ...emptyDraft, streamUrl: 'https://example.com/live.m3u8', condition: `it's "red"\\` };
    for (const purpose of ['look', 'monitor', 'digest'] as const)
      for (const code of Object.values(requestCode(purpose, draft, 'https://watch.example/api'))) {
        expect(code).toContain('WATCHPOST_API_KEY');
        expect(code).toContain(draft.streamUrl);
        expect(code).not.toContain('wp_');
      }
  });

  test('generated curl code escapes a quote in the condition', () => {
    const draft = { ...emptyDraft, condition: "it's red; rm -rf" };
    expect(requestCode('look', draft, 'https://watch.example/api').curl).toContain(
      String.raw`it'\''s red; rm -rf`,
    );
  });
});

test('a duplicate of a job leaves URLs empty whose secrets are masked', () => {
  const config = {
    condition: 'a person',
    input_mode: 'frames',
    clip_duration_seconds: 3,
    interval_seconds: 7,
    monitor_duration_seconds: 600,
    trigger_cooldown_seconds: 0,
    max_triggers: null,
    enable_prefilter: true,
    webhook_url: 'https://example.com/hook',
  } as any;
  const duplicate = (stream_url: string) => toDraft({ stream_url, config });
  expect(duplicate('rtsp://user:***@example.com/live')).toMatchObject({ streamUrl: '', intervalSeconds: 7 });
  expect(duplicate('https://example.com/live.m3u8')).toMatchObject({
    streamUrl: 'https://example.com/live.m3u8',
    webhookUrl: 'https://example.com/hook',
  });
});

test('logLines returns the newest line first and filters by job id prefix', () => {
  const entries = [
    { time: at(0), level: 'INFO' as const, message: '[JOB:aaaaaaaa] Job started' },
    { time: at(1), level: 'INFO' as const, message: 'Service started' },
  ];
  expect(logLines(entries, '')).toMatchObject([{ job: null }, { job: 'aaaaaaaa', text: 'Job started' }]);
  expect(logLines(entries, 'AAAAaaaa-1111')).toHaveLength(1);
  expect(logLines(entries, 'bb')).toEqual([]);
});

test('savings returns the share of captures that the pre-filter skipped', () => {
  expect(savings({ captured: 60, skipped_prefilter: 180 })).toBe(0.75);
  expect(savings({ captured: 0, skipped_prefilter: 0 })).toBeNull();
});

test('costOf returns a cost in dollars only for a model with a known price', () => {
  const use = { provider: 'bedrock', inputTokens: 1000, outputTokens: 100 };
  expect(checkCost({ ...use, model: 'eu.amazon.nova-lite-v1:0' }).text).toBe('about $0.00008');
  expect(checkCost({ ...use, provider: 'objects', model: 'objects' }).text).toBe('No model cost');
  expect(checkCost({ ...use, model: 'qwen2.5vl:7b' }).text).toContain('tokens');
  expect(checkCost(null).text).toBe('Unknown');
});

test.each([
  ['', { page: 'look' }],
  ['#/jobs', { page: 'jobs' }],
  ['#/jobs/some-id', { page: 'job', jobId: 'some-id' }],
  ['#/elsewhere', { page: 'unknown' }],
])('the URL fragment "%s" resolves to its page', (hash, route) => expect(parseRoute(hash)).toEqual(route));

test('relativeTime counts down to a future time, and duration rounds to readable units', () => {
  expect(relativeTime(at(0), start + 2_000)).toBe('now');
  expect(relativeTime(at(3), start)).toMatch(/3/);
  expect(duration(90)).toBe('90 s');
  expect(duration(4800)).toBe('1 h 20 min');
});

describe('watches', () => {
  test('a watch takes stream, condition and webhook of the form, without duration and maximum of alerts', () => {
    const draft = { ...emptyDraft, streamUrl: ' https://example.com/a.m3u8 ', condition: ' A dog ' };
    expect(watchRequest(draft)).toEqual({
      name: 'A dog',
      stream_url: 'https://example.com/a.m3u8',
      input_mode: 'frames',
      interval_seconds: 10,
      enable_prefilter: true,
      conditions: [{ condition: 'A dog', cooldown_seconds: 30, close_after_seconds: 0 }],
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
    const person = { ...newCondition, condition: ' A person is at the gate ' };
    const conditions = [...before.conditions, { ...newCondition, condition: ' A cat ' }, person];
    expect(toWatchPatch(before, { ...before, name: ' Yard ', conditions })).toEqual({
      name: 'Yard',
      conditions: [
        { ...before.conditions[0], close_after_seconds: 0 },
        { ...newCondition, condition: 'A cat', close_after_seconds: 0 },
        { ...newCondition, condition: 'A person is at the gate', close_after_seconds: 30 },
      ],
    });
    const chosen = { ...person, close_after_seconds: 5 };
    expect(toWatchPatch(before, { ...before, conditions: [chosen] }).conditions).toMatchObject([
      { close_after_seconds: 5 },
    ]);
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

  test('a lane has the open time of each condition inside the window, and hours with sight', () => {
    const window = { startMs: start, endMs: start + 10 * 3_600_000 };
    const closed = { at: at(3600), reason: 'cleared', explanation: '', open_seconds: 7200 } as const;
    const conditions = ['dog', 'cat'].map((id) => ({
      ...newCondition,
      close_after_seconds: 0,
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
    const hours = [
      { hour: at(0), coverage: 1 },
      { hour: at(3600), coverage: 0.2 },
      { hour: at(7200), coverage: null },
    ];
    expect(createSight(hours, window)).toEqual([{ from: 0, length: 0.1 }]);
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
});
