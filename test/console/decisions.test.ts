import { describe, expect, test } from 'vitest';
import type { JobEvent } from '../../console/api/types.ts';
import { configLabels } from '../../console/jobs/job-labels.ts';
import { activityData, axisTimes } from '../../console/jobs/activity-data.ts';
import { timelineItems } from '../../console/jobs/timeline-items.ts';
import { checkRequest, emptyDraft, monitorRequest, toDraft, withLogin } from '../../console/try/draft.ts';
import { checkCost } from '../../console/try/price.ts';
import { requestCode } from '../../console/try/request-code.ts';
import { toOfflineTitle, toStreamFacts } from '../../console/try/stream-facts.ts';
import { logLines, savings } from '../../console/operations/operations-data.ts';
import { parseRoute } from '../../console/shell/routes.ts';
import { clockTime, duration, spokenTime } from '../../console/time/format.ts';

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

test('an emptied length of the clip is left to the service', () => {
  const draft = { ...emptyDraft, input_mode: 'clip' as const };
  expect(checkRequest({ ...draft, clip_duration_seconds: 4 })).toHaveProperty('clip_duration_seconds', 4);
  expect(checkRequest({ ...draft, clip_duration_seconds: null })).not.toHaveProperty('clip_duration_seconds');
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
    const draft = { ...emptyDraft, stream_url: 'https://example.com/live.m3u8', condition: `it's "red"\\` };
    for (const purpose of ['look', 'monitor', 'digest'] as const)
      for (const code of Object.values(requestCode(purpose, draft, 'https://watch.example/api'))) {
        expect(code).toContain('WATCHPOST_API_KEY');
        expect(code).toContain(draft.stream_url);
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
  expect(duplicate('rtsp://user:***@example.com/live')).toMatchObject({
    stream_url: '',
    interval_seconds: 7,
  });
  expect(duplicate('https://example.com/live.m3u8')).toMatchObject({
    stream_url: 'https://example.com/live.m3u8',
    webhook_url: 'https://example.com/hook',
  });
});

test('a monitor of Try scans between checks only if the form says so, and a duplicate keeps it', () => {
  expect(monitorRequest(emptyDraft)).not.toHaveProperty('look_back');
  const request = monitorRequest({ ...emptyDraft, look_back: true });
  expect(request).toMatchObject({ look_back: true });
  const job = { stream_url: 'https://example.com/live.m3u8', config: request as any };
  expect(toDraft(job).look_back).toBe(true);
  expect(toDraft({ ...job, config: { ...job.config, look_back: undefined } }).look_back).toBe(false);
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
  const use = { provider: 'bedrock', milliseconds: 900, inputTokens: 1000, outputTokens: 100 };
  expect(checkCost({ ...use, model: 'eu.amazon.nova-lite-v1:0' }).text).toBe('about $0.00008');
  expect(checkCost({ ...use, provider: 'objects', model: 'objects' }).text).toBe('No model cost');
  expect(checkCost({ ...use, model: 'qwen2.5vl:7b' }).text).toContain('tokens');
  expect(checkCost(null).text).toBe('Unknown');
});

test.each([
  ['', { page: 'home' }],
  ['#/try', { page: 'look' }],
  ['#/sign-in/a.1.b', { page: 'sign-in', code: 'a.1.b' }],
  ['#/jobs', { page: 'jobs' }],
  ['#/jobs/some-id', { page: 'job', jobId: 'some-id' }],
  ['#/alerts', { page: 'alerts' }],
  ['#/alerts?state=open&day=2026-11-27', { page: 'alerts' }],
  ['#/alerts/some-id', { page: 'alerts', alertId: 'some-id' }],
  ['#/elsewhere', { page: 'unknown' }],
])('the URL fragment "%s" resolves to its page', (hash, route) => expect(parseRoute(hash)).toEqual(route));

test('a future time counts down, a past one is the time of day, with the day if it is another one', () => {
  expect(spokenTime(at(3), start)).toMatch(/3/);
  expect(spokenTime(at(0), start + 120_000)).toBe(clockTime(at(0)));
  expect(spokenTime(at(0), start + 86_400_000)).toMatch(new RegExp(`.+, ${clockTime(at(0))}$`));
});

test('duration rounds to readable units', () => {
  expect(duration(90)).toBe('90 s');
  expect(duration(4800)).toBe('1 h 20 min');
});

test.each([
  ['admin', 'p@ss:w/rd?#%', 'rtsp://admin:p%40ss%3Aw%2Frd%3F%23%25@192.168.1.20:554/live'],
  ['a@b', '$&', 'rtsp://a%40b:%24%26@192.168.1.20:554/live'],
  ['admin', '', 'rtsp://admin:@192.168.1.20:554/live'],
  ['', 'ignored', 'rtsp://192.168.1.20:554/live'],
])('user "%s" with password "%s" are in the stream URL, percent-encoded', (username, password, expected) => {
  const url = withLogin('rtsp://192.168.1.20:554/live', username, password);
  expect(url).toBe(expected);
  if (username === '') return;
  const { username: user, password: secret } = new URL(url);
  expect([user, secret].map(decodeURIComponent)).toEqual([username, password]);
});

test.each([
  [{ platform: 'hls' }, ['HLS']],
  [
    { platform: 'hls', picture_seconds: 25 },
    ['HLS', 'a picture every 25 s or more: set the key frames of the camera to 2 s'],
  ],
  [
    { platform: 'rtsp', picture_seconds: 11 },
    ['RTSP', 'a key frame every 11 s or more: set the key frames of the camera to 2 s'],
  ],
  [{ platform: 'mjpeg' }, ['Motion JPEG']],
  [{ platform: 'jpeg', picture_seconds: 600 }, ['JPEG pictures', 'a picture every 600 s or more']],
  [{ platform: 'twitch', channel: 'somebody', viewer_count: 7 }, ['Twitch', 'somebody', '7 viewers']],
] as const)('the stream %j is described as %j', (stream, facts) => {
  expect(toStreamFacts({ is_live: true, ...stream })).toEqual(facts);
});

test('a stream that is not live is named by its platform, and not by the kind of camera that its URL suggests', () => {
  expect(toOfflineTitle({ platform: 'twitch' })).toBe('Not live · Twitch');
  expect(toOfflineTitle({ platform: 'hls' })).toBe('Not live');
});
