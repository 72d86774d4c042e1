import { expect, test } from 'vitest';
import { makeFilm, watchFilm } from './film.ts';

const streams = {
  hls: { keyFrameMs: 2000, segmentMs: 2000 },
  rtsp: { keyFrameMs: 1000, segmentMs: 0 },
};
/** `npm run simulate -- mutations` takes twenty. */
const count = process.env['SIMULATION_SEEDS'] === 'all' ? 20 : 7;
const phases = Array.from({ length: count }, (_, phase) => phase / count);

test.each([
  { name: 'hls', intervalSeconds: 5 },
  { name: 'hls', intervalSeconds: 10 },
  { name: 'rtsp', intervalSeconds: 5 },
  { name: 'rtsp', intervalSeconds: 10 },
] as const)(
  'each visit apart from others is one alert about its length, and every phase has the same alerts ($name, $intervalSeconds s)',
  { timeout: 30_000 * phases.length },
  async ({ name, intervalSeconds }) => {
    const film = makeFilm(1, 40);
    const counts: number[] = [];
    let [apart, once] = [0, 0];
    for (const phase of phases) {
      const alerts = await watchFilm(film, { kind: streams[name], intervalSeconds, phase });
      counts.push(alerts.length);
      const isOf = (visit: (typeof film)[number]) => (alert: (typeof alerts)[number]) =>
        visit.from <= alert.openedAt && alert.openedAt < visit.to + 1000;
      expect(alerts.filter((alert) => !film.some((visit) => isOf(visit)(alert)))).toEqual([]);
      for (const [index, visit] of film.entries()) {
        const beforeMs = visit.from - (film[index - 1]?.to ?? 0);
        const afterMs = (film[index + 1]?.from ?? Infinity) - visit.to;
        if (Math.min(beforeMs, afterMs) < 5000) continue;
        const told = alerts.filter(isOf(visit));
        apart += 1;
        if (told.length !== 1) continue;
        once += 1;
        expect(Math.abs(told[0]!.seenSeconds - (visit.to - visit.from) / 1000)).toBeLessThanOrEqual(3);
      }
    }
    expect(apart).toBeGreaterThan(20 * count);
    expect(once / apart).toBeGreaterThanOrEqual(0.97);
    expect(new Set(counts).size).toBe(1);
  },
);
