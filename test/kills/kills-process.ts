import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startLiveHls } from '../../cli/demo/live-hls.ts';
import { startReceiver } from '../support/servers/receiver.ts';
import { startService } from '../support/service-process.ts';
import { checkJob, checkWatch, isExpected, readLog } from './check-logs.ts';

/**
 * Kills the service at random moments while watches and jobs run on a stream whose picture turns white and back, then
 * compares logs, alerts, coverage and deliveries: `npm run test:kills -- --kills 25 --seconds 180`. Loopback only; ends
 * by its own limits.
 */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '25' },
    seconds: { type: 'string', default: '180' },
    watches: { type: 'string', default: '20' },
    jobs: { type: 'string', default: '10' },
  },
});
/** Opens and closes at each verdict. */
const single = { checks_to_open: 1, checks_considered: 1, checks_to_close: 1 };
const maxKills = Number(values.kills);
const endAt = Date.now() + Number(values.seconds) * 1000;
const dataDir = mkdtempSync(join(tmpdir(), 'watchpost-kills-'));
const problems: string[] = [];
await using cleanup = new AsyncDisposableStack();
cleanup.defer(() => {
  if (problems.length === 0) rmSync(dataDir, { recursive: true, force: true });
  else console.log(`Data directory kept: ${dataDir}`);
});

const stream = await startLiveHls({
  ffmpegPath: process.env['WATCHPOST_FFMPEG'] ?? 'ffmpeg',
  inputArgs: '-re -f lavfi -i testsrc2=size=320x180:rate=5 -vf'
    .split(' ')
    .concat("drawbox=color=white:t=fill:enable='lt(mod(t,30),15)'"),
  segmentSeconds: 1,
  host: '127.0.0.1',
});
cleanup.defer(() => stream.close());
let service = await startService(dataDir, {}, 120);
cleanup.defer(async () => void (await service.kill('SIGTERM')));
// One attempt in ten fails, so that kills also hit retries. At most two of an event do: the third wait of a destination
// exceeds this test.
const receiver = await startReceiver(
  () => service.webhookSecret,
  (_path, _type, before) => (before < 2 && Math.random() < 0.1 ? 503 : 204),
);
cleanup.defer(() => receiver.close());

const watchIds = await createAll(Number(values.watches), (index) => ({
  path: '/watches',
  body: {
    name: `Gate ${index}`,
    stream_url: stream.url,
    interval_seconds: 5,
    confirm_seconds: 1,
    enable_prefilter: index % 2 === 0,
    conditions: [
      { condition_id: 'white', condition: 'The picture is entirely white', ...(index % 3 === 0 && single) },
      { condition_id: 'dark', condition: 'The picture is not bright' },
    ],
    destinations: [{ destination_id: 'hook', type: 'webhook', url: `${receiver.url}/watches/${index}` }],
  },
}));
const jobIds = await createAll(Number(values.jobs), (index) => ({
  path: '/live-monitor',
  body: {
    stream_url: stream.url,
    condition: 'The picture is not black',
    interval_seconds: 5,
    input_mode: 'frames',
    enable_prefilter: false,
    monitor_duration_seconds: 600,
    max_triggers: null,
    webhook_url: `${receiver.url}/jobs/${index}`,
  },
}));

let kills = 0;
while (kills < maxKills && Date.now() < endAt) {
  const left = (endAt - Date.now()) / Math.max(1, maxKills - kills);
  await sleep(Math.random() * Math.max(500, Math.min(2 * left - 3000, 12_000)));
  await service.kill('SIGKILL');
  kills += 1;
  service = await startService(dataDir, {}, 120);
}
await sleep(12_000);
for (const watchId of watchIds) await call('POST', `/watches/${watchId}/pause`, {});
for (const jobId of jobIds) await call('DELETE', `/jobs/${jobId}`);
await waitForDeliveries(120_000);

const sums = { events: 0, openings: 0, deliveries: 0, repeated: 0, watchedSeconds: 0, gapSeconds: 0 };
for (const [index, watchId] of watchIds.entries()) {
  const stats = await call('GET', `/watches/${watchId}/stats`);
  const result = checkWatch(
    await readLog(`/watches/${watchId}`, call),
    receiver.of(`/watches/${index}`),
    stats,
  );
  collect(`watch ${index}`, result);
}
for (const [index, jobId] of jobIds.entries())
  collect(`job ${index}`, checkJob(await readLog(`/jobs/${jobId}`, call), receiver.of(`/jobs/${index}`)));

if (sums.openings === 0) problems.push('no alert opened');
console.table([{ kills, ...sums, problems: problems.length }]);
for (const problem of problems) console.log(problem);
if (problems.length > 0) writeFileSync(join(dataDir, 'service.log'), service.output());
process.exitCode = problems.length === 0 && kills === maxKills ? 0 : 1;

function collect(name: string, { problems: found, ...counts }: ReturnType<typeof checkWatch>): void {
  problems.push(...found.map((problem) => `${name}: ${problem}`));
  sums.events += counts.events;
  sums.openings += counts.openings;
  sums.deliveries += counts.deliveries;
  sums.repeated += counts.repeated;
  sums.watchedSeconds += counts.watchedSeconds;
  sums.gapSeconds += counts.gapSeconds;
}

async function createAll(
  count: number,
  describe: (index: number) => { path: string; body: Record<string, unknown> },
): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { path, body } = describe(index);
    const created = await call('POST', path, body);
    ids.push(String(created['watch_id'] ?? created['job_id']));
  }
  return ids;
}

async function call(method: string, path: string, body?: unknown): Promise<Record<string, any>> {
  const response = await service.call(method, path, body);
  if (response.status >= 400)
    throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
}

/** Waits until every event that must be delivered has arrived, or the time is over. */
async function waitForDeliveries(maxMs: number): Promise<void> {
  const giveUpAt = Date.now() + maxMs;
  for (; Date.now() < giveUpAt; await sleep(1000)) {
    const missing = await countMissing();
    if (missing === 0) return;
  }
}

async function countMissing(): Promise<number> {
  let missing = 0;
  for (const [kind, ids] of [
    ['watches', watchIds],
    ['jobs', jobIds],
  ] as const) {
    for (const [index, id] of ids.entries()) {
      const log = await readLog(`/${kind}/${id}`, call);
      const arrived = new Set(
        receiver
          .of(`/${kind}/${index}`)
          .filter(({ status }) => status === 204)
          .map(({ data }) => data.sequence),
      );
      missing += log.filter((event) => isExpected(event) && !arrived.has(event.data.sequence)).length;
    }
  }
  return missing;
}
