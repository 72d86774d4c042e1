import { expect, test } from 'vitest';
import { deleteStoredWatch, pauseStoredWatch, reviewOwnAlert } from '../../../core/watch/control-watch.ts';
import { readWatchStats } from '../../../core/watch/watch-stats.ts';
import { createWatch, run, watchId, world } from '../../support/watches/watch-world.ts';

const day = 24 * 3600;

/** Reads the statistics from and to a time after the start of the world, in seconds. */
async function read(from: number, to: number, begin: Date) {
  const at = (seconds: number) => new Date(begin.getTime() + seconds * 1000);
  return readWatchStats({ watchId, from: at(from), to: at(to) }, 'caller', world.c);
}

test('the statistics of a span have the reviews of the alerts that opened in it, by condition and week', async () => {
  let step = await createWatch();
  const begin = world.clock.now;
  // The world starts on a Sunday at 12:00: the second alert belongs to the next week.
  for (const correct of [false, true]) {
    world.script.verdicts.push(true, true, false, false, false, false);
    step = await run(step, 3);
    const [alert] = await world.c.watches.alerts({ caller: 'caller', limit: 1 }, world.clock.now);
    await reviewOwnAlert(alert!.alert_id, { correct, note: '' }, 'caller', 'me', world.c);
    step = await run(step, 3);
    world.advance(day);
  }
  const spans = [
    await read(0, 3600, begin),
    await read(12 * 3600, 2 * day, begin),
    await read(0, 2 * day, begin),
  ];
  expect(
    spans.map(({ total, precision, weeks }) => ({
      opened: total.alerts_opened,
      reviewed: precision.map((each) => [each.reviewed, each.correct]),
      weeks: weeks.map(({ week, reviewed, correct }) => [week, reviewed, correct]),
    })),
  ).toEqual([
    { opened: 1, reviewed: [[1, 0]], weeks: [['2026-02-23', 1, 0]] },
    { opened: 1, reviewed: [[1, 1]], weeks: [['2026-03-02', 1, 1]] },
    {
      opened: 2,
      reviewed: [[2, 1]],
      weeks: [
        ['2026-02-23', 1, 0],
        ['2026-03-02', 1, 1],
      ],
    },
  ]);
});

test('a pause counts the alert that it closes', async () => {
  const step = await createWatch();
  const begin = world.clock.now;
  world.script.verdicts.push(true, true);
  await run(step, 2);
  await pauseStoredWatch(watchId, 'caller', world.c);
  expect((await read(0, day, begin)).total).toMatchObject({ alerts_opened: 1, alerts_closed: 1 });
});

test('a deletion counts the alert that it closes', async () => {
  const step = await createWatch();
  world.script.verdicts.push(true, true);
  await run(step, 2);
  await deleteStoredWatch(watchId, 'caller', world.c);
  const hours = await world.c.watches.hours(watchId, new Date(0), world.clock.now);
  expect(hours.map(({ counts }) => [counts.alerts_opened, counts.alerts_closed])).toEqual([[1, 1]]);
});

test('statistics of a span that ends before it begins are refused', async () => {
  await createWatch();
  await expect(read(day, 0, world.clock.now)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
});

test('the spans of an hour are listed on request, and are the seconds of its classes', async () => {
  const step = await createWatch();
  const begin = world.clock.now;
  world.script.verdicts.push(true, true, false);
  await run(step, 4);
  const [plain] = (await read(0, day, begin)).hours;
  expect(plain).not.toHaveProperty('spans');
  const [hour] = (await readWatchStats({ watchId, spans: true }, 'caller', world.c)).hours;
  const sum = (kind: string) =>
    (hour?.spans ?? [])
      .filter((span) => span.class === kind)
      .reduce((total, { from, to }) => total + Date.parse(to) - Date.parse(from), 0) / 1000;
  expect(sum('judged')).toBeCloseTo(plain!.judged_seconds, 1);
  expect(sum('judged')).toBeGreaterThan(0);
});
