import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { insertRun } from '../adapters/embedded/runs/run-store.ts';
import { createRunTables, type RunTables } from '../adapters/embedded/runs/run-tables.ts';
import { openDatabase } from '../adapters/embedded/sqlite/database.ts';
import { transaction } from '../adapters/embedded/sqlite/transaction.ts';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import type { Alert } from '../core/records/watch-state.ts';
import { recordFilm } from './film.ts';
import { describeMachine, findFfmpeg, quantile } from './harness.ts';
import { createMoments } from './moments.ts';
import { openService } from './service.ts';
import { startStreams } from './streams.ts';

/**
 * Measures the console with a day of 25 watches in Chromium: from the navigation until the time line shows every lane,
 * and until a search shows its first results. The browser and the service share the machine. Usage: npm run bench --
 * time-line [moments] [loads]
 */

const [count = 216_000, loads = 10] = process.argv.slice(2).map(Number);
const watches = 25;
const hourMs = 3_600_000;
const hours = 24;
const alertsOfHour = 4;

await using cleanup = new AsyncDisposableStack();
const ffmpeg = await findFfmpeg();
const { path: directory } = cleanup.use(openTemporaryFolder('bench-time-line-'));
const film = { lengths: [12], everySeconds: 24, seconds: 48 };
const live = await recordFilm(ffmpeg.path, directory, film, [
  { name: 'hls', heights: [360], keyFrameSeconds: 2, segmentSeconds: 2 },
]);
const streams = cleanup.use(await startStreams({ ffmpegPath: ffmpeg.path, ageSeconds: 30, streams: live }));
const service = cleanup.use(await openService({ ffmpeg, jobs: watches }));
await service.startWatch(streams.url('hls'));
await service.pauseWatches();
fill(Date.now());

const browser = await chromium.launch({
  executablePath: process.env['WATCHPOST_CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
cleanup.defer(() => browser.close());
const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, bypassCSP: true });
page.setDefaultTimeout(60_000);
const session = await page.context().newCDPSession(page);
await session.send('Performance.enable', { timeDomain: 'threadTicks' });
const address = `${new URL(service.baseUrl).origin}/console`;
await page.goto(address);
await page.getByLabel('API key', { exact: true }).fill(service.apiKey);
await page.keyboard.press('Enter');
await page.getByRole('navigation', { name: 'Pages' }).waitFor();

const times = {
  'first paint': [] as number[],
  'every lane': [] as number[],
  'results of a search': [] as number[],
  'processor, page': [] as number[],
  'processor, service': [] as number[],
};
for (let load = 0; load < loads; load += 1) {
  await page.goto('about:blank');
  const usedBefore = process.cpuUsage();
  await page.goto(`${address}#/timeline`);
  await page.waitForFunction(
    `document.querySelectorAll('svg.lane:has(.judged):has(.quiet)').length === ${watches}`,
  );
  times['every lane'].push(Number(await page.evaluate('performance.now()')));
  const used = process.cpuUsage(usedBefore);
  times['processor, service'].push((used.user + used.system) / 1000);
  const { metrics } = await session.send('Performance.getMetrics');
  const busy = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  times['processor, page'].push(1000 * busy);
  const painted = "performance.getEntriesByName('first-contentful-paint')[0].startTime";
  times['first paint'].push(Number(await page.evaluate(painted)));
  await page.getByRole('navigation', { name: 'Pages' }).getByText('Search').click();
  await page.getByLabel('What do you look for?', { exact: true }).fill('a red van');
  const beganMs = performance.now();
  await page.keyboard.press('Enter');
  await page.getByRole('list', { name: 'Results' }).getByRole('listitem').first().waitFor();
  times['results of a search'].push(performance.now() - beganMs);
}
console.table(
  Object.fromEntries(
    Object.entries(times).map(([name, values]) => [
      name,
      Object.fromEntries(
        [0.5, 0.95, 1].map((share) => [`p${share * 100} ms`, Math.round(quantile(values, share))]),
      ),
    ]),
  ),
);
console.log(`${watches} watches, ${hours} hours, ${count} moments, ${watches * hours * alertsOfHour} alerts`);
console.log(describeMachine());

/** Fills the database of the service with copies of its watch, and with the hours, alerts and moments of a day. */
function fill(now: number): void {
  const database = openDatabase(join(service.dataDir, 'watchpost.sqlite'));
  const tables = createRunTables(database);
  const begin = Math.floor(now / hourMs) * hourMs - (hours - 1) * hourMs;
  const run = tables.runs.find(service.watchIds[0] ?? '')?.run;
  if (!run) throw new Error('The watch is not stored.');
  const copies = Array.from({ length: watches - 1 }, () => ({ ...run, run_id: randomUUID() }));
  const watchIds = [run, ...copies].map(({ run_id: id }) => id);
  const newMoment = createMoments({ caller: run.caller, watchIds, begin, everyMs: (hours * hourMs) / count });
  for (let from = 0; from < count; from += 10_000)
    transaction(database, () => {
      for (let index = from; index < Math.min(count, from + 10_000); index += 1)
        tables.moments.add(newMoment(index));
    });
  transaction(database, () => {
    for (const copy of copies) insertRun(tables, copy, []);
    for (const watchId of watchIds)
      for (let hour = 0; hour < hours; hour += 1) {
        const fromMs = begin + hour * hourMs;
        tables.hours.add(watchId, toHour(fromMs));
        for (let alert = 0; alert < alertsOfHour; alert += 1)
          tables.alerts.put(newAlert(watchId, run.caller, fromMs + alert * 600_000));
      }
  });
  database.close();
}

/** Returns an hour with as many spans as are stored. */
function toHour(fromMs: number): Parameters<RunTables['hours']['add']>[1] {
  const spans = Array.from({ length: 60 }, (_, minute) => ({
    from: new Date(fromMs + minute * 60_000),
    to: new Date(fromMs + (minute + 1) * 60_000),
    class: minute % 2 === 0 ? ('judged' as const) : ('quiet' as const),
    reason: null,
  }));
  return {
    hour: new Date(fromMs).toISOString(),
    counts: [
      ['checks', 360],
      ['model_calls', 180],
      ['watched_ms', hourMs],
    ],
    seen: { spans, unjudged: {} },
  };
}

function newAlert(watchId: string, caller: string, atMs: number): Alert {
  return {
    alert_id: randomUUID(),
    watch_id: watchId,
    watch_name: 'Gate',
    caller,
    condition_id: 'person',
    condition: 'A person is in the picture',
    severity: 'warning',
    labels: [],
    opened_at: new Date(atMs).toISOString(),
    explanation: 'A person stands at the gate.',
    checks: [],
    frame_key: null,
    lost_seconds: 0,
    reminders: 0,
    acknowledged: null,
    closed: {
      at: new Date(atMs + 60_000).toISOString(),
      reason: 'cleared',
      explanation: '',
      open_seconds: 60,
      seen_seconds: 50,
      frame_key: null,
    },
    review: null,
    expires_at: new Date(atMs + 7 * 86_400_000).toISOString(),
  };
}
