import { expect, test } from 'vitest';
import { watchFilm } from './film.ts';

type Times = { opened_at: string; closed_at: string | null };

/** Returns the largest difference of the times of two lists of alerts, in seconds. */
function differ(one: readonly Times[], other: readonly Times[]): number {
  const times = (alerts: readonly Times[]) =>
    alerts.flatMap(({ opened_at: opened, closed_at: closed }) => [opened, closed ?? '']).map(Date.parse);
  const others = times(other);
  return Math.max(...times(one).map((time, index) => Math.abs(time - (others[index] ?? 0)) / 1000 || 0));
}

const cases = [
  { seed: 1, alert_on: 'each_stay', keyFrameMs: 2000, segmentMs: 2000, trouble: false },
  { seed: 2, alert_on: 'each_visit', keyFrameMs: 4000, segmentMs: 4000, trouble: true },
  { seed: 3, alert_on: 'each_visit', keyFrameMs: 1000, segmentMs: 0, trouble: false },
  { seed: 5, alert_on: 'by_checks', keyFrameMs: 4000, segmentMs: 4000, trouble: true },
  // An alert closes by the last check before the gap; one stays open over it; a visit is seen only by the capture that
  // ends it.
  { seed: 10, alert_on: 'each_stay', keyFrameMs: 4000, segmentMs: 4000, trouble: true },
  { seed: 13, alert_on: 'each_stay', keyFrameMs: 2000, segmentMs: 2000, trouble: true },
  { seed: 12, alert_on: 'by_checks', keyFrameMs: 1000, segmentMs: 0, trouble: true },
];

test.each(cases)(
  'live, replay and backtest open the same alerts on film $seed, $alert_on',
  async ({ seed, alert_on, trouble, ...kind }) => {
    const condition = { condition: 'Somebody is there', condition_id: 'visitor', alert_on };
    const fields = { conditions: [condition], interval_seconds: 10 };
    const film = await watchFilm(seed, { kind, fields, hours: 0.6, ...(trouble && { gone: [900, 1200] }) });
    const { alerts, possible, result } = await film.backtest();
    expect(film.calls).toEqual([]);
    const replayed = await film.replay();
    expect(film.live.length).toBeGreaterThan(5);
    expect(replayed).toHaveLength(film.live.length);
    expect(differ(film.live, replayed)).toBeLessThanOrEqual(10);
    expect(alerts).toHaveLength(film.live.length);
    expect(differ(film.live, alerts)).toBeLessThanOrEqual(10);
    expect(possible).toEqual([]);
    expect(result).toMatchObject({ model_calls: 0, cost_usd: 0, estimate: { model_calls: 0, exact: true } });
    expect(result.sentence).toContain(trouble ? 'camera lost' : 'no gap');
  },
);
