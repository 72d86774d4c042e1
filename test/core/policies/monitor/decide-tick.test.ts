import { describe, expect, test } from 'vitest';
import { decideMonitorTick } from '../../../../core/policies/monitor/decide-tick.ts';
import { screenCapture } from '../../../../core/policies/job/screen-capture.ts';
import type { JobOutcome } from '../../../../core/policies/job/outcome.ts';
import { initialJobSight, type JobOf } from '../../../../core/records/job.ts';
import {
  after,
  captured,
  captureFailed,
  looked,
  missed,
  modelBusy,
  runningJob,
} from '../../../support/watching.ts';

/** Plays outcomes one after the other at the given seconds, each on the job that the last one left. */
function play(job: JobOf<'monitor'>, ticks: [number, JobOutcome][]) {
  const decisions = [];
  let current = job;
  for (const [seconds, outcome] of ticks) {
    const decision = decideMonitorTick(current, outcome, after(seconds));
    decisions.push(decision);
    current = {
      ...current,
      counters: decision.counters,
      sight: decision.sight,
      state: decision.state,
      last_tick: current.last_tick + 1,
    };
  }
  return decisions;
}

/** The same outcome at each of these seconds. */
const each = (outcome: JobOutcome, ...seconds: number[]) =>
  seconds.map((second): [number, JobOutcome] => [second, outcome]);

const filterAlerts = (decisions: ReturnType<typeof play>) =>
  decisions.map(({ events }) => events.some(({ type }) => type === 'watch_triggered'));

describe('triggers', () => {
  test('a verdict that holds sends an alert with the explanation and the evidence', () => {
    const { events } = decideMonitorTick(runningJob({ max_triggers: null }), looked(true), after(10));
    expect(events.map(({ type }) => type)).toEqual(['progress', 'watch_triggered']);
    expect(events[1]?.data).toMatchObject({
      condition: 'a ship enters the lock',
      explanation: 'A barge is between the gates.',
      frame_key: expect.stringContaining('captures/'),
      triggers_fired: 1,
      prefilter_skipped: false,
    });
  });

  test('an alert has the boxes of its verdict, and no field without any', () => {
    const boxes = [{ label: 'boat', score: 0.7, x: 0.1, y: 0.2, width: 0.3, height: 0.4 }];
    const outcome = looked(true);
    if (outcome.kind !== 'judged') throw new Error('The outcome has a verdict');
    const seen = { ...outcome, verdict: { ...outcome.verdict, boxes } };
    expect(decideMonitorTick(runningJob(), seen, after(10)).events[1]?.data).toMatchObject({ boxes });
    expect(decideMonitorTick(runningJob(), outcome, after(10)).events[1]?.data).not.toHaveProperty('boxes');
  });

  test('the evidence of an alert is the frame of the clip that shows it', () => {
    const outcome = looked(true);
    if (outcome.kind !== 'judged') throw new Error('The outcome has a verdict');
    const seen = { ...outcome, verdict: { ...outcome.verdict, shown_at_seconds: 1.5 } };
    const { events, sight } = decideMonitorTick(runningJob(), seen, after(10));
    const key = outcome.captured.frame_key.replace('.jpg', '-at-1500.jpg');
    expect(events[1]?.data).toMatchObject({ frame_key: key });
    // The next tick may remove the frame of the capture.
    expect(sight.last_frame).toMatchObject({ key: outcome.captured.frame_key, evidence: false });
  });

  test('the check after a clip whose last frame no longer shows the condition needs no motion', () => {
    const outcome = looked(true);
    if (outcome.kind !== 'judged') throw new Error('The outcome has a verdict');
    const left = { ...outcome, verdict: { ...outcome.verdict, shown_at_seconds: 1.5 } };
    const still = captured({ moved: false, changed_share: 0 });
    const job = runningJob({ max_triggers: null });
    const screen = (seen: JobOutcome) =>
      screenCapture({ ...job, sight: decideMonitorTick(job, seen, after(10)).sight }, still, after(20)).kind;
    expect(screen(left)).toBe('fresh');
    expect(screen(outcome)).toBe('skipped');
  });

  test('a verdict that does not hold sends none', () => {
    const decision = decideMonitorTick(runningJob(), looked(false), after(10));
    expect(decision.events.map(({ type }) => type)).toEqual(['progress']);
    expect(decision.counters).toMatchObject({ checks_performed: 1, triggers_fired: 0, input_tokens: 900 });
  });

  test('the first match ends a job with max_triggers 1', () => {
    const decision = decideMonitorTick(runningJob({ max_triggers: 1 }), looked(true), after(10));
    expect(decision.ending).toEqual({ status: 'completed', reason: 'condition_triggered' });
    expect(decision.next.done).toBe(true);
  });

  test('the last of several alerts ends the job as max_triggers_reached', () => {
    const decisions = play(runningJob({ max_triggers: 2 }), each(looked(true), 10, 20));
    expect(decisions.map(({ ending }) => ending?.reason)).toEqual([undefined, 'max_triggers_reached']);
  });

  test('a second trigger inside the cooldown sends no alert, and shows in progress', () => {
    const decisions = play(
      runningJob({ max_triggers: null, trigger_cooldown_seconds: 30 }),
      each(looked(true), 10, 20, 39, 40),
    );
    expect(filterAlerts(decisions)).toEqual([true, false, false, true]);
    expect(decisions[1]?.events[0]?.data).toMatchObject({ triggered: true, triggers_fired: 1 });
  });
});

describe('duration', () => {
  test('a tick at the deadline ends the job as max_duration_reached, after its verdict counted', () => {
    const late = decideMonitorTick(
      runningJob({ monitor_duration_seconds: 30, max_triggers: null }),
      looked(true),
      after(31),
    );
    expect(late.counters.triggers_fired).toBe(1);
    expect(late.ending).toEqual({ status: 'stopped', reason: 'max_duration_reached' });
  });

  test('a match on the last tick completes the job rather than stopping it', () => {
    const late = decideMonitorTick(runningJob({ monitor_duration_seconds: 30 }), looked(true), after(31));
    expect(late.ending).toEqual({ status: 'completed', reason: 'condition_triggered' });
  });

  test('the tick after the last look wakes at the deadline and only closes', () => {
    const { next } = decideMonitorTick(
      runningJob({ monitor_duration_seconds: 35 }),
      looked(false),
      after(31),
    );
    expect(next).toMatchObject({ wait_until: after(35).toISOString(), closing: true, done: false });
    const due = decideMonitorTick(
      runningJob({ monitor_duration_seconds: 35 }),
      { kind: 'no_capture' },
      after(35),
    );
    expect(due.ending?.reason).toBe('max_duration_reached');
    expect(due.events).toEqual([]);
  });
});

describe('wake-ups', () => {
  test('stand on the grid from the start, however long a tick took', () => {
    const job = runningJob();
    const wakeAfter = (seconds: number) =>
      decideMonitorTick(job, looked(false), after(seconds)).next.wait_until;
    expect(wakeAfter(0.2)).toBe(after(10).toISOString());
    expect(wakeAfter(9.9)).toBe(after(10).toISOString());
    expect(wakeAfter(10)).toBe(after(20).toISOString());
    expect(wakeAfter(47)).toBe(after(50).toISOString());
  });

  test('wake-ups are whole seconds, rounded up', () => {
    const job = runningJob({}, { started_at: after(0.25).toISOString() });
    expect(decideMonitorTick(job, looked(false), after(3)).next.wait_until).toBe(after(11).toISOString());
  });
});

describe('a stream that fails', () => {
  test('a stream that fails is retried after 1, 2, 4, 8, 16 and 16 seconds, and its URL is resolved again', () => {
    const decisions = play(runningJob(), each(captureFailed, 10, 11, 13, 17, 25, 41));
    expect(decisions.map(({ next }) => next.wait_until)).toEqual(
      [11, 13, 17, 25, 41, 57].map((seconds) => after(seconds).toISOString()),
    );
    expect(decisions.every(({ next }) => next.resolve_again)).toBe(true);
    expect(decisions[0]?.events[0]?.data).toMatchObject({ stream: 'reconnecting', triggered: null });
  });

  test('a stream lost for longer than the grace period fails the job as stream_lost, with a remediation', () => {
    const decisions = play(runningJob(), each(captureFailed, 10, 69.5, 70));
    expect(decisions.map(({ ending }) => ending?.reason)).toEqual([undefined, undefined, 'stream_lost']);
    expect(decisions[2]?.ending).toMatchObject({
      status: 'failed',
      failure: { code: 'STREAM_FETCH_FAILED' },
    });
    expect(decisions[2]?.ending?.failure?.remediation).toContain('start a new job');
  });

  test('and comes back within the grace period leaves a gap in coverage and nothing else', () => {
    const [, , back] = play(runningJob(), [
      [10, looked(false)],
      [20, captureFailed],
      [50, looked(false)],
    ]);
    expect(back?.ending).toBeUndefined();
    expect(back?.sight).toMatchObject({ stream_trouble: null, gap_seconds: 40 });
    expect(back?.sight.gaps).toEqual([
      { from: after(10).toISOString(), to: after(50).toISOString(), reason: 'stream' },
    ]);
  });

  test('because it says that it has ended stops the job as stream_ended', () => {
    const { ending } = decideMonitorTick(
      runningJob(),
      { kind: 'ended', message: 'Stream has ended' },
      after(10),
    );
    expect(ending).toEqual({ status: 'stopped', reason: 'stream_ended' });
  });

  test('a stale capture ends the waits after failed ones: the next failure waits for a second', () => {
    const stale: JobOutcome = { kind: 'stale', captured: captured() };
    const decisions = play(runningJob({ interval_seconds: 300 }), [
      ...each(captureFailed, 10, 11),
      [13, stale],
      ...each(captureFailed, 29, 30),
    ]);
    expect(decisions.map(({ next }) => next.wait_until)).toEqual(
      [11, 13, 29, 30, 32].map((seconds) => after(seconds).toISOString()),
    );
  });

  test('a stale stream is checked again soon, and counts as lost if it stays stale', () => {
    const stale: JobOutcome = { kind: 'stale', captured: captured() };
    const decisions = play(runningJob({ interval_seconds: 300 }), each(stale, 300, 316, 361));
    expect(decisions[0]?.next.wait_until).toBe(after(316).toISOString());
    expect(decisions[0]?.events[0]?.data).toMatchObject({ stream: 'stale' });
    expect(decisions[0]?.counters.stale_captures).toBe(1);
    expect(decisions[2]?.ending?.reason).toBe('stream_lost');
  });
});

describe('a tick without a picture that is no fault of the stream', () => {
  const advertisement: JobOutcome = { kind: 'unavailable', message: 'The platform shows an advertisement' };

  test('an advertisement does not extend the stream loss of the job, however long it lasts', () => {
    const decisions = play(runningJob(), [
      [10, captureFailed],
      ...each(advertisement, 20, 100),
      ...each(captureFailed, 110, 171),
    ]);
    const endings = decisions.map(({ ending }) => ending?.reason);
    expect(endings).toEqual([...Array<undefined>(4).fill(undefined), 'stream_lost']);
  });

  test('a tick without a capture is followed by one on the grid, with the same resolved URL', () => {
    const [failed, unavailable] = play(runningJob(), [
      [10, captureFailed],
      [11, advertisement],
    ]);
    expect(failed?.next).toMatchObject({ resolve_again: true });
    expect(unavailable?.next).toMatchObject({
      resolve_again: false,
      wait_until: after(20).toISOString(),
    });
    expect(unavailable?.counters.failed_captures).toBe(2);
  });

  test('an advertisement is reported, and is a gap in coverage', () => {
    const [first, back] = play(runningJob(), [
      [10, advertisement],
      [20, looked(false)],
    ]);
    expect(first?.events[0]?.data).toMatchObject({
      explanation:
        'No picture, which is no fault of the stream: The platform shows an advertisement. It is tried again.',
    });
    expect(back?.sight.gaps).toMatchObject([{ reason: 'service' }]);
  });
});

test('an alert has the version of the prompt, and none without one', () => {
  const withPrompt = looked(true);
  if (withPrompt.kind !== 'judged') throw new Error('not judged');
  const versioned = { ...withPrompt, verdict: { ...withPrompt.verdict, prompt_version: 'strict-1' } };
  const readAlert = (outcome: JobOutcome) => play(runningJob(), [[10, outcome]])[0]?.events.at(-1)?.data;
  expect(readAlert(versioned)).toMatchObject({ prompt_version: 'strict-1' });
  expect(readAlert(withPrompt)).not.toHaveProperty('prompt_version');
});

test('a check that the model of this machine is too busy for is a gap of the service, and never fails the job', () => {
  const busy = [5, 10, 15, 20, 25, 30, 305].map((at): [number, JobOutcome] => [at, modelBusy]);
  const decisions = play(runningJob(), [...busy, [310, looked(false)]]);
  expect(decisions.map(({ ending }) => ending)).toEqual(decisions.map(() => undefined));
  const back = decisions.at(-1);
  expect(back?.sight.gaps).toMatchObject([{ reason: 'service' }]);
  expect(back?.counters).toMatchObject({ checks_missed: 7, frames_captured: 8, failed_captures: 0 });
  expect(decisions[0]?.events[0]?.data).toMatchObject({
    triggered: null,
    stream: 'ok',
    picture: 'ok',
    explanation:
      'The picture was not judged: this machine has more pictures than its model can judge in time.',
  });
  expect(decisions[0]?.next.judged).toBe(false);
});

describe('a model that fails', () => {
  test('a failed model call counts as missed, and the fifth in a row fails the job', () => {
    const last = play(runningJob(), each(missed, 10, 20, 30, 40, 50)).at(-1);
    expect(last?.ending?.failure?.code).toBe('VLM_ERROR');
    expect(last?.counters).toMatchObject({ checks_missed: 5, checks_performed: 0 });
  });

  const everyFive = Array.from({ length: 70 }, (_, index) => 5 * (index + 1));

  test.each([
    ['within a grace period, counted from the first one,', 300, {}, everyFive, 305],
    [
      'of a model that has never answered',
      300,
      { sight: initialJobSight },
      [...everyFive.slice(0, 6), 305],
      305,
    ],
    ['at a slow interval', 300, {}, [100, 200, 300, 400, 500], 500],
  ])(
    'failed calls %s fail the job after that time, at the fifth at the earliest',
    (_, grace, fields, seconds, at) => {
      const job = { ...runningJob({}, fields), model_grace_seconds: grace };
      const endings = play(job, each(missed, ...seconds)).map(({ ending }) => ending?.reason);
      expect(endings.indexOf('vlm_error')).toBe(seconds.indexOf(at));
      expect(endings.slice(0, seconds.indexOf(at)).every((reason) => reason === undefined)).toBe(true);
    },
  );

  test('a successful model call restarts the count of failed ones', () => {
    const decisions = play(runningJob(), [
      ...each(missed, 10, 20),
      [30, looked(false)],
      ...each(missed, 40, 50, 60, 70),
    ]);
    expect(decisions.every(({ ending }) => ending === undefined)).toBe(true);
  });
});

describe('skips', () => {
  test('skips are counted by kind and reported in progress events', () => {
    const skip = (why: 'no_motion' | 'frozen' | 'black' | 'repeated'): JobOutcome => ({
      kind: 'skipped',
      why,
      captured: captured(),
    });
    const decisions = play(runningJob(), [
      [10, skip('no_motion')],
      [20, skip('frozen')],
      [30, skip('black')],
      [40, skip('repeated')],
    ]);
    expect(decisions[3]?.counters).toMatchObject({
      frames_skipped: 4,
      frozen_frames: 1,
      black_frames: 1,
      checks_performed: 0,
    });
    expect(decisions.map(({ events }) => events[0]?.data)).toMatchObject([
      { prefilter_skipped: true, picture: 'ok' },
      { prefilter_skipped: true, picture: 'frozen' },
      { prefilter_skipped: true, picture: 'black' },
      { prefilter_skipped: true, picture: 'repeated' },
    ]);
  });
});
