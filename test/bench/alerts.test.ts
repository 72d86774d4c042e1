import { expect, test } from 'vitest';
import { readDelays } from '../../bench/service.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 22) + seconds * 1000).toISOString();
const progress = (seconds: number, next: number | null) => ({
  type: 'progress',
  timestamp: at(seconds),
  data: { next_check_at: next === null ? null : at(next) },
});
const alert = (seconds: number) => ({ type: 'watch_triggered', timestamp: at(seconds), data: {} });

test('a check is as late as its commit is after the time that the check before has planned', () => {
  const { checksMs, alertsMs } = readDelays([progress(1, 5), progress(5.4, 10), progress(11, null)]);
  expect(checksMs).toEqual([400, 1000]);
  expect(alertsMs).toEqual([]);
});

test('an alert has the delay of its check', () => {
  const delays = readDelays([progress(1, 5), alert(1), progress(5.5, 10), alert(5.5), progress(10.2, null)]);
  // The planned time of the first check is unknown.
  expect(delays).toEqual({
    checksMs: [500, 200],
    alertsMs: [500],
    woken: 0,
  });
});

test('a check before its planned time was woken by motion and has no delay', () => {
  const events = [progress(1, 11), progress(4, 11), progress(11.3, 21), progress(15, 21)];
  expect(readDelays(events)).toMatchObject({ checksMs: [300], woken: 2 });
});

test('delays of the time before a measurement do not count', () => {
  const events = [progress(1, 11), progress(4, 11), progress(11.3, 21), progress(15, 21)];
  expect(readDelays(events, Date.parse(at(11)))).toMatchObject({ checksMs: [300], woken: 1 });
});
