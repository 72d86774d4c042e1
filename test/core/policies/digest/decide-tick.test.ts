import { describe, expect, test } from 'vitest';
import { decideDigestTick } from '../../../../core/policies/digest/decide-tick.ts';
import type { JobOutcome } from '../../../../core/policies/job/outcome.ts';
import { planTickClosure } from '../../../../core/policies/digest/window-closure.ts';
import type { SummaryResult } from '../../../../core/records/window-closure.ts';
import type { JobOf } from '../../../../core/records/job.ts';
import { after, captured, captureFailed, missed, runningDigest } from '../../../support/watching.ts';

const due: JobOutcome = { kind: 'no_capture' };
const ended: JobOutcome = { kind: 'ended', message: 'Stream has ended' };
const tokens = { input_tokens: 500, output_tokens: 50 };
const failure = missed.kind === 'model_failed' ? missed.failure : undefined!;

type Tick = [number, JobOutcome, 'silent'?];

const timesAt = (seconds: number) => ({ at: after(seconds), askedAt: after(seconds) });
const sampledAt = (seconds: number): JobOutcome => ({
  kind: 'sampled',
  captured: captureAt(seconds),
  times: timesAt(seconds),
});
/** Samples at each of these seconds. */
const samples = (...seconds: number[]) => seconds.map((at): Tick => [at, sampledAt(at)]);
/** The same outcome at each of these seconds. */
const each = (outcome: JobOutcome, ...seconds: number[]) => seconds.map((at): Tick => [at, outcome]);
const skippedAt = (seconds: number, why: 'no_motion' | 'black' | 'frozen' | 'repeated'): JobOutcome => ({
  kind: 'skipped',
  why,
  captured: captureAt(seconds),
});

function captureAt(seconds: number) {
  return captured({ frame_key: `captures/a/${seconds}.jpg` }, after(seconds));
}

/**
 * Plays outcomes at the given seconds, each on the job that the last one left; the model answers unless it is silent.
 */
function play(job: JobOf<'digest'>, ticks: Tick[]) {
  const decisions = [];
  let current = job;
  for (const [seconds, outcome, silent] of ticks) {
    const closing = planTickClosure(current, outcome, after(seconds));
    const decision = decideDigestTick(
      current,
      closing ? { ...outcome, closed: { closing, result: answer(silent), gridKey: null } } : outcome,
      after(seconds),
    );
    decisions.push({ ...decision, asked: closing?.samples.map(({ frame_key: key }) => key) });
    const { counters, sight, state, next } = decision;
    current = { ...current, counters, sight, state, next, last_tick: current.last_tick + 1 };

    function answer(isSilent?: 'silent'): SummaryResult {
      if (closing?.samples.length === 0) return { kind: 'none', why: null };
      if (isSilent) return { kind: 'missed', failure };
      return { kind: 'summarized', summary: { summary: 'A barge came.', tokens } };
    }
  }
  return decisions;
}

const readSummaries = (decisions: ReturnType<typeof play>) =>
  decisions.flatMap(({ events }) =>
    events.flatMap((event) => (event.type === 'summary_generated' ? [event.data] : [])),
  );

const minute = { window_minutes: 1, capture_interval_seconds: 20, digest_duration_seconds: 180 };

describe('a window', () => {
  test('a window ends in one summary of its samples in time order, and the next one starts at its end', () => {
    const decisions = play(runningDigest(minute), samples(0, 20, 40, 60, 80, 120));
    expect(decisions.map(({ asked }) => asked?.length ?? null)).toEqual([null, null, null, 3, null, 2]);
    expect(decisions[3]?.asked).toEqual([0, 20, 40].map((at) => `captures/a/${at}.jpg`));
    expect(readSummaries(decisions)).toMatchObject([
      {
        window_index: 1,
        window_start: after(0).toISOString(),
        window_end: after(60).toISOString(),
        partial: false,
        summary: 'A barge came.',
        frames_captured: 3,
        frames_skipped: 0,
        gaps: [],
      },
      { window_index: 2, window_start: after(60).toISOString(), frames_captured: 2 },
    ]);
    expect(decisions[3]?.counters).toMatchObject({
      checks_performed: 4,
      frames_captured: 4,
      input_tokens: 500,
    });
    expect(decisions[3]?.events.map(({ type }) => type)).toEqual(['progress', 'summary_generated']);
  });

  test('a window has the samples captured in it, also if their tick ends late', () => {
    const decisions = play(runningDigest(minute), [
      [0, sampledAt(0)],
      [61, sampledAt(59)],
    ]);
    expect(decisions[1]?.asked).toHaveLength(2);
    expect(decisions[1]?.state).toEqual({ summarized: 1, windows: [], end: null });
  });

  test('a window without samples closes without a model call, and its summary counts the skips', () => {
    const decisions = play(runningDigest(minute), [
      [0, skippedAt(0, 'no_motion')],
      [20, skippedAt(20, 'no_motion')],
      [40, skippedAt(40, 'black')],
      [60, sampledAt(60)],
    ]);
    expect(decisions[3]?.asked).toEqual([]);
    expect(readSummaries(decisions)).toMatchObject([
      {
        summary:
          'Nothing new was seen in this window: of 3 pictures, 2 had nothing moving in it, 1 showed a black picture.',
        frames_captured: 0,
        frames_skipped: 3,
      },
    ]);
    expect(decisions[3]?.counters).toMatchObject({ frames_skipped: 3, black_frames: 1, checks_performed: 1 });
  });

  test('the count of skips in a row restarts after a sample, and continues over the ends of windows', () => {
    const decisions = play(runningDigest(minute), [
      [40, skippedAt(40, 'no_motion')],
      [60, skippedAt(60, 'no_motion')],
      [80, sampledAt(80)],
    ]);
    expect(decisions.map(({ sight }) => sight.skipped_in_a_row)).toEqual([1, 2, 0]);
  });

  test('a window in which the stream was lost names the gap, in text and data', () => {
    const decisions = play(runningDigest(minute), [
      [0, sampledAt(0)],
      ...each(captureFailed, 20, 21),
      ...samples(40, 60),
    ]);
    const [summary] = readSummaries(decisions);
    expect(summary?.summary).toBe(
      'A barge came. The stream was not seen from 12:00:00 to 12:00:40 UTC: it could not be reached.',
    );
    expect(summary?.gaps).toEqual([
      { from: after(0).toISOString(), to: after(40).toISOString(), reason: 'stream' },
    ]);
  });

  test('a gap across the end of a window is divided between the two windows', () => {
    const decisions = play(runningDigest(minute), [
      [40, sampledAt(40)],
      [50, captureFailed],
      [60, due],
      ...samples(80, 120),
    ]);
    expect(readSummaries(decisions).map(({ gaps }) => gaps)).toEqual([
      [{ from: after(40).toISOString(), to: after(60).toISOString(), reason: 'stream' }],
      [{ from: after(60).toISOString(), to: after(80).toISOString(), reason: 'stream' }],
    ]);
  });

  test('windows that passed during downtime of the service get one summary each, in order', () => {
    const job = runningDigest({ ...minute, digest_duration_seconds: 600 });
    const decisions = play(job, samples(0, 250));
    expect(readSummaries(decisions).map(({ window_index: index }) => index)).toEqual([1, 2, 3, 4]);
    expect(readSummaries(decisions)[2]?.summary).toBe(
      'No picture was taken in this window. The stream was not seen from 12:02:00 to 12:03:00 UTC: the service was not watching.',
    );
  });

  test('the windows of a long outage close in several ticks, without a pause between them', () => {
    const job = runningDigest({ ...minute, digest_duration_seconds: 86_400 });
    const decisions = play(job, [...samples(0, 1500), [1500, due], [1500, due]]);
    expect(
      decisions.map(({ events }) => events.filter(({ type }) => type === 'summary_generated').length),
    ).toEqual([0, 10, 10, 5]);
    expect(decisions[1]?.next).toMatchObject({ wait_until: after(1500).toISOString(), closing: true });
    expect(decisions[3]?.next).toMatchObject({ wait_until: after(1520).toISOString(), closing: false });
  });
});

describe('wake-ups', () => {
  test('wake-ups are on the grid of samples, and at the end of a window that is not on it', () => {
    const job = runningDigest({ ...minute, capture_interval_seconds: 50 });
    const nextAt = (seconds: number) => play(job, [[seconds, sampledAt(seconds)]])[0]?.next;
    expect(nextAt(0)).toMatchObject({ wait_until: after(50).toISOString(), closing: false });
    expect(nextAt(50)).toMatchObject({ wait_until: after(60).toISOString(), closing: true });
    expect(nextAt(60)).toMatchObject({ wait_until: after(100).toISOString(), closing: false });
  });

  test('the wake-up at the deadline takes no capture', () => {
    const job = runningDigest({ ...minute, digest_duration_seconds: 60 });
    expect(play(job, [[40, sampledAt(40)]])[0]?.next).toMatchObject({
      wait_until: after(60).toISOString(),
      closing: true,
    });
  });

  test('keep the backoff of a stream that is gone over the end of a window', () => {
    const job = runningDigest({ ...minute, capture_interval_seconds: 300 });
    const decisions = play(job, [...each(captureFailed, 56, 57, 59), [60, due]]);
    expect(decisions[2]?.next).toMatchObject({ wait_until: after(60).toISOString(), closing: true });
    expect(decisions[3]?.next).toMatchObject({
      wait_until: after(64).toISOString(),
      closing: false,
      resolve_again: true,
    });
  });
});

describe('ends', () => {
  test('a digest ends at its duration with a partial summary of the open window', () => {
    const job = runningDigest({ ...minute, digest_duration_seconds: 90 });
    const decisions = play(job, [...samples(0, 60), [91, due]]);
    expect(decisions[2]?.ending).toEqual({ status: 'stopped', reason: 'max_duration_reached' });
    expect(readSummaries(decisions)[1]).toMatchObject({
      window_index: 2,
      partial: true,
      window_end: after(90).toISOString(),
    });
  });

  test('a picture of the very deadline is in the last window, and no window without time follows', () => {
    const summaries = readSummaries(play(runningDigest(minute), samples(0, 60, 120, 180)));
    expect(summaries.map(({ window_start, window_end }) => [window_start, window_end])).toEqual([
      [after(0).toISOString(), after(60).toISOString()],
      [after(60).toISOString(), after(120).toISOString()],
      [after(120).toISOString(), after(180).toISOString()],
    ]);
    expect(summaries.at(-1)?.frames_captured).toBe(2);
  });

  test('a digest ends with its stream, with a partial summary', () => {
    const decisions = play(runningDigest(minute), [
      [0, sampledAt(0)],
      [20, ended],
    ]);
    expect(decisions[1]?.ending).toEqual({ status: 'stopped', reason: 'stream_ended' });
    expect(decisions[1]?.events.map(({ type }) => type)).toEqual(['progress', 'summary_generated']);
    expect(readSummaries(decisions)).toMatchObject([{ partial: true, window_end: after(20).toISOString() }]);
  });
});

describe('a model that gives no summary', () => {
  test('a failed summary is requested again soon, for its window only, while the next window takes its samples', () => {
    const decisions = play(runningDigest({ ...minute, capture_interval_seconds: 60 }), [
      [0, sampledAt(0)],
      [60, sampledAt(60), 'silent'],
      [90, due],
      [120, sampledAt(120)],
    ]);
    expect(decisions[1]?.events.map(({ type }) => type)).toEqual(['progress']);
    expect(decisions[1]?.events[0]?.data).toMatchObject({
      explanation: expect.stringContaining('no summary: Vision model analysis failed. It is asked again.'),
    });
    expect(decisions[1]?.next).toMatchObject({ wait_until: after(90).toISOString(), closing: true });
    expect(decisions[1]?.counters.checks_missed).toBe(1);
    expect(decisions[2]?.asked).toEqual(['captures/a/0.jpg']);
    expect(decisions[2]?.sight.model_trouble).toBeNull();
    expect(decisions[3]?.asked).toEqual(['captures/a/60.jpg']);
  });

  test('the failed summaries of two windows are requested one at a time, without a pause', () => {
    const decisions = play(runningDigest({ ...minute, capture_interval_seconds: 60 }), [
      [0, sampledAt(0)],
      [60, sampledAt(60), 'silent'],
      [120, sampledAt(120)],
      [120, due],
    ]);
    expect(decisions.map(({ asked }) => asked)).toEqual([
      undefined,
      ['captures/a/0.jpg'],
      ['captures/a/0.jpg'],
      ['captures/a/60.jpg'],
    ]);
    expect(decisions[2]?.next).toMatchObject({ wait_until: after(120).toISOString(), closing: true });
  });

  test('five failed summaries in a row fail the job', () => {
    const decisions = play(runningDigest(minute), [
      [0, sampledAt(0)],
      ...[60, 80, 100, 120, 140].map((at): Tick => [at, sampledAt(at), 'silent']),
    ]);
    expect(decisions.map(({ ending }) => ending?.reason)).toEqual([
      ...Array<undefined>(5).fill(undefined),
      'vlm_error',
    ]);
    expect(decisions[5]?.ending?.failure).toEqual(failure);
  });

  test('failed summaries fail the job only after the grace period of the model', () => {
    const digest = { ...runningDigest(minute), model_grace_seconds: 300 };
    const times = [60, 90, 120, 150, 180, 210, 240, 270, 300, 330, 359, 360];
    const endings = play(digest, [
      [0, sampledAt(0)],
      ...times.map((second): Tick => [second, due, 'silent']),
    ]).map(({ ending }) => ending?.reason);
    expect(endings).toEqual([...Array<undefined>(12).fill(undefined), 'vlm_error']);
  });

  test('an hour in which the machine sleeps between two failed summaries is no time of the model', () => {
    const digest = { ...runningDigest(minute), model_grace_seconds: 300 };
    const silent = [60, 90, 120, 150, 3750].map((at): Tick => [at, due, 'silent']);
    const decisions = play(digest, [[0, sampledAt(0)], ...silent]);
    expect(decisions.map(({ ending }) => ending)).toEqual(Array(6).fill(undefined));
  });

  test('a failed summary of an ended stream is requested again without a capture, for the window up to that end', () => {
    const decisions = play(runningDigest({ ...minute, capture_interval_seconds: 60 }), [
      [0, sampledAt(0)],
      [10, ended, 'silent'],
      [40, due, 'silent'],
      [70, due],
    ]);
    expect(decisions[1]?.next).toMatchObject({ wait_until: after(40).toISOString(), closing: true });
    expect(decisions[2]?.next).toMatchObject({ wait_until: after(70).toISOString(), closing: true });
    expect(readSummaries(decisions)).toMatchObject([
      { window_index: 1, partial: true, window_end: after(10).toISOString(), gaps: [] },
    ]);
    expect(decisions[3]?.ending?.reason).toBe('stream_ended');
  });

  test('a failed last summary delays the end of the digest until the model answers', () => {
    const job = runningDigest({ ...minute, max_windows: 1, digest_duration_seconds: 60 });
    const decisions = play(job, [
      [0, sampledAt(0)],
      [60, due, 'silent'],
      [90, due],
    ]);
    expect(decisions[1]).toMatchObject({
      ending: undefined,
      next: { wait_until: after(90).toISOString(), closing: true },
    });
    expect(decisions[2]?.ending?.reason).toBe('max_windows_reached');
    expect(readSummaries(decisions)).toMatchObject([{ window_end: after(60).toISOString(), partial: false }]);
  });
});

test('a window keeps as many samples as are useful, evenly spread, with the first and the newest', () => {
  const job = runningDigest({
    window_minutes: 60,
    capture_interval_seconds: 10,
    digest_duration_seconds: 3600,
  });
  const decisions = play(
    job,
    Array.from({ length: 360 }, (_, at) => [at * 10, sampledAt(at * 10)]),
  );
  const window = decisions.at(-1)?.state.windows[0];
  expect(window?.frames_captured).toBe(360);
  expect(window?.samples).toHaveLength(120);
  const seconds = window!.samples.map(({ captured_at: at }) => (Date.parse(at) - after(0).getTime()) / 1000);
  expect([seconds[0], seconds.at(-1)]).toEqual([0, 3590]);
  const gaps = seconds.slice(1).map((at, index) => at - seconds[index]!);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(60);
});
