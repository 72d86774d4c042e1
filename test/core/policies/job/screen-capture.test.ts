import { describe, expect, test } from 'vitest';
import { monitorDecisions } from '../../../../core/policies/monitor/policy.ts';
import { screenCapture } from '../../../../core/policies/job/screen-capture.ts';
import type { JobSight } from '../../../../core/records/job.ts';
import { failingModel } from '../../../support/trouble.ts';
import { after, captured, runningDigest, runningJob, start } from '../../../support/watching.ts';

const still = captured({ moved: false, changed_share: 0 });
const jobWith = (sight: Partial<JobSight>) => ({ sight: { ...runningJob().sight, ...sight } });

describe('the pre-filter', () => {
  test('the pre-filter requests a check of a frame with motion', () => {
    expect(screenCapture(runningJob(), captured(), after(1)).kind).toBe('fresh');
  });

  test('the pre-filter skips a frame without motion', () => {
    expect(screenCapture(runningJob(), still, after(1))).toMatchObject({ kind: 'skipped', why: 'no_motion' });
  });

  test('the pre-filter forces a check after six skips in a row', () => {
    expect(screenCapture(runningJob({}, jobWith({ skipped_in_a_row: 5 })), still, after(1)).kind).toBe(
      'skipped',
    );
    expect(screenCapture(runningJob({}, jobWith({ skipped_in_a_row: 6 })), still, after(1)).kind).toBe(
      'fresh',
    );
  });

  test('the pre-filter does not skip after a failed model call', () => {
    const job = runningJob({}, jobWith({ model_trouble: failingModel(1) }));
    expect(monitorDecisions.work(job, still, after(1)).kind).toBe('check');
  });

  test('the pre-filter can be switched off', () => {
    expect(screenCapture(runningJob({ enable_prefilter: false }), still, after(1)).kind).toBe('fresh');
  });
});

describe('what is no news is never judged, with or without the pre-filter', () => {
  const unfiltered = runningJob({ enable_prefilter: false });
  const seen = captured().seen;

  test('a black picture', () => {
    expect(screenCapture(unfiltered, captured({ black: true }), after(1))).toMatchObject({
      kind: 'skipped',
      why: 'black',
    });
  });

  test('a picture that has been identical for half a minute is frozen; a single repeat is not', () => {
    const identical = (seconds: number) =>
      captured({
        seen: { ...seen, identical_since: start.toISOString(), seen_at: after(seconds).toISOString() },
      });
    expect(screenCapture(unfiltered, identical(29), after(29)).kind).toBe('fresh');
    expect(screenCapture(unfiltered, identical(30), after(30))).toMatchObject({
      kind: 'skipped',
      why: 'frozen',
    });
  });

  test('the same segment again is skipped, and stale once a healthy stream would have moved on', () => {
    const again = (seconds: number) =>
      captured({ repeated: true, seen: { ...seen, seen_at: after(seconds).toISOString() } });
    expect(screenCapture(unfiltered, again(5), after(5))).toMatchObject({ kind: 'skipped', why: 'repeated' });
    expect(screenCapture(unfiltered, again(6.5), after(6.5)).kind).toBe('stale');
  });

  test('a late look does not make its picture stale', () => {
    expect(screenCapture(unfiltered, captured(), after(120)).kind).toBe('fresh');
  });

  test('the same segment again is judged where the model failed on it', () => {
    const job = runningJob({ enable_prefilter: false }, jobWith({ model_trouble: failingModel(1) }));
    expect(monitorDecisions.work(job, captured({ repeated: true }), after(5)).kind).toBe('check');
  });

  test('an RTSP stream has no segments and is never stale by them', () => {
    const position = { segment: null, segment_seconds: 0 };
    const camera = captured({ seen: { ...seen, position, seen_at: after(500).toISOString() } });
    expect(screenCapture(unfiltered, camera, after(500)).kind).toBe('fresh');
  });
});

test('a capture that began before the deadline is checked, and a later one is not used', () => {
  const job = runningJob({ monitor_duration_seconds: 30 });
  expect(screenCapture(job, captured({}, after(29.9)), after(50)).kind).toBe('fresh');
  expect(screenCapture(job, captured({}, after(30)), after(50)).kind).toBe('no_capture');
  expect(
    screenCapture(
      job,
      {
        kind: 'failed',
        code: 'STREAM_FETCH_FAILED',
        message: 'gone',
        remediation: '',
        access_refused: false,
        began_at: after(31).toISOString(),
      },
      after(31),
    ).kind,
  ).toBe('no_capture');
  expect(
    screenCapture(runningJob(), { kind: 'not_captured', began_at: after(1).toISOString() }, after(1)).kind,
  ).toBe('no_capture');
});

test('a digest never takes the same segment twice, also while it waits for the model', () => {
  const job = runningDigest({ enable_prefilter: false }, jobWith({ model_trouble: failingModel(1) }));
  expect(screenCapture(job, captured({ repeated: true }), after(5))).toMatchObject({
    kind: 'skipped',
    why: 'repeated',
  });
});
