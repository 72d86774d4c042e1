import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import { type Film, type FilmStream, listVisits, recordFilm, type Visit } from './film.ts';
import { describeMachine, findFfmpeg, mean, quantile, readProcessorTimes, round } from './harness.ts';
import { openService } from './service.ts';
import { startStreams } from './streams.ts';

/**
 * Measures which visits a watch sees. A film whose visits are known to the frame is live over HLS (segments of 2, 6 and 10 s, one and three renditions) and RTSP
 * (a key frame every 1, 2 and 10 s). A watch with the object model and the defaults is on each stream, once without looking back and once with it. Prints the
 * share of visits with an alert by their length, alerts without a visit, alerts more than one of a visit, calls, processor time and bandwidth of a stream.
 * Usage: node bench/visits.ts
 *   --lengths 8,6,4      lengths of the visits in turn, in seconds
 *   --every 31           seconds from a visit to the next
 *   --minutes 8          duration of each of the two measurements
 *   --streams hls        only streams with these names, or whose name contains the text
 *   --copies 1           streams of each kind
 *   --only with          measures only with (or only without) looking back
 *   --follow             follows the HLS streams, so that motion causes a check
 *   --no-wakes           motion causes no check
 *   --clips FOLDER       GIFs of which each visit shows one in turn, with cuts to the scene; set `--condition`. `watchpost replay` of a
 *                        clip says whether the model sees it
 *   --condition TEXT     default: A stop sign is in the picture
 */

const { values } = parseArgs({
  options: {
    lengths: { type: 'string', default: '8,6,4' },
    every: { type: 'string', default: '31' },
    minutes: { type: 'string', default: '8' },
    streams: { type: 'string', default: '' },
    copies: { type: 'string', default: '1' },
    only: { type: 'string' },
    follow: { type: 'boolean', default: false },
    'no-wakes': { type: 'boolean', default: false },
    clips: { type: 'string' },
    condition: { type: 'string', default: 'A stop sign is in the picture' },
  },
});
const seconds = Number(values.minutes) * 60;
/** Time for which the streams have played before the first check. */
const leadSeconds = 20;
/** Time from the start of the watches to the measurement: the first check has nothing to look back at, and loads the model. */
const settleSeconds = 15;
const film: Film = {
  lengths: values.lengths.split(',').map(Number),
  everySeconds: Number(values.every),
  seconds: leadSeconds + settleSeconds + seconds + 60,
  clips: await listClips(values.clips),
};
const all: FilmStream[] = [
  { name: 'hls-2', heights: [720], keyFrameSeconds: 2, segmentSeconds: 2 },
  { name: 'hls-6', heights: [720], keyFrameSeconds: 2, segmentSeconds: 6 },
  { name: 'hls-10', heights: [720], keyFrameSeconds: 10, segmentSeconds: 10 },
  { name: 'hls-2-renditions', heights: [720, 360, 180], keyFrameSeconds: 2, segmentSeconds: 2 },
  { name: 'rtsp-1', heights: [720], keyFrameSeconds: 1, segmentSeconds: 0 },
  { name: 'rtsp-2', heights: [720], keyFrameSeconds: 2, segmentSeconds: 0 },
  { name: 'rtsp-10', heights: [720], keyFrameSeconds: 10, segmentSeconds: 0 },
];
const named = all.filter(({ name }) => values.streams.split(',').includes(name));
const kinds = named.length > 0 ? named : all.filter(({ name }) => name.includes(values.streams));

await using cleanup = new AsyncDisposableStack();
const ffmpeg = await findFfmpeg();
const { path: directory } = cleanup.use(openTemporaryFolder('bench-visits-'));
const played = kinds.flatMap((kind) =>
  Array.from({ length: Number(values.copies) }, (_, copy) => ({
    ...kind,
    name: copy === 0 ? kind.name : `${kind.name}~${copy + 1}`,
  })),
);
const live = await recordFilm(ffmpeg.path, directory, film, played);
const without = values.only === 'with' ? undefined : await measure(false);
const withLookBack = values.only === 'without' ? undefined : await measure(true);
console.table({ ...without?.rows, ...withLookBack?.rows });
for (const [name, of] of Object.entries({ without, with: withLookBack }))
  if (of)
    console.log(
      `${name} looking back: ${of.calls} pictures sent to the model, ${of.checks} captures judged, ${round(of.processorMs)} ms of processor time for a second of a stream; ` +
        `${of.seen} of ${of.visits} visits seen, ${of.alone} alerts without a visit`,
    );
if (without && withLookBack) {
  const ratio = (part: 'checks' | 'calls' | 'processorMs') => round(withLookBack[part] / without[part]);
  console.log(
    `ratios: pictures ${ratio('calls')}, captures judged ${ratio('checks')}, processor time ${ratio('processorMs')}`,
  );
}
console.log(describeMachine(ffmpeg));

async function measure(lookBack: boolean) {
  const { path: ffmpegPath } = ffmpeg;
  const config = { ffmpegPath, ageSeconds: leadSeconds, delayMs: 0, streams: live };
  await using streams = await startStreams(config);
  await using service = await openService({
    ffmpeg,
    jobs: live.length,
    wakes: !values['no-wakes'],
    settings: { vision: 'objects' },
  });
  for (const { name } of live)
    await service.startWatch(streams.url(name).replace('live.m3u8', 'master.m3u8'), {
      name,
      conditions: [{ condition: values.condition }],
      look_back: lookBack,
      follow: values.follow,
    });
  await sleep(settleSeconds * 1000);
  const fromMs = Date.now();
  const bytesBefore = await streams.readBytes();
  const before = readProcessorTimes();
  await sleep(seconds * 1000);
  const after = readProcessorTimes();
  const bytesAfter = await streams.readBytes();
  const toMs = Date.now();
  // Alerts of the last visits: a segment and the next check may be 10 s each.
  await sleep(30_000);
  const usedMs = after.ownMs + after.childrenMs - before.ownMs - before.childrenMs;
  const toTime = (at: number) => streams.startedAtMs + at * 1000;
  const toFilmed = (time: string) => (Date.parse(time) - streams.startedAtMs) / 1000;
  const visits = listVisits(film).filter(({ from, to }) => toTime(from) > fromMs && toTime(to) < toMs);
  const found: Found[] = [];
  for (const [index, { segmentSeconds }] of live.entries())
    // A segment is listed once it is over, and an alert has the time of the service.
    found.push(findAlerts(visits, await service.readWatch(index), toFilmed, 4 + 2 * segmentSeconds));
  const sent = live.map(({ name }) => (bytesAfter[name] ?? 0) - (bytesBefore[name] ?? 0));
  return summarize(visits, found, { usedMs, sent, lookBack });
}

function summarize(
  visits: readonly Visit[],
  found: readonly Found[],
  { usedMs, sent, lookBack }: { usedMs: number; sent: readonly number[]; lookBack: boolean },
) {
  const sum = (count: (one: Found) => number) => found.reduce((total, one) => total + count(one), 0);
  const rows = found.map((one, index) => [
    `${live[index]?.name}${lookBack ? ', looking back' : ''}`,
    {
      ...describeVisits(visits, one),
      'sure from s': one.watch.shortestSeconds,
      coverage: one.watch.coverage,
      checks: one.watch.checks,
      calls: one.watch.modelCalls,
      'kB/s': round((sent[index] ?? 0) / seconds / 1000, 1),
    },
  ]);
  return {
    rows: Object.fromEntries(rows),
    checks: sum(({ watch }) => watch.checks),
    calls: sum(({ watch }) => watch.modelCalls),
    processorMs: usedMs / seconds / live.length,
    seen: sum(({ byVisit }) => byVisit.filter((alerts) => alerts.length > 0).length),
    visits: visits.length * found.length,
    alone: sum(({ alone }) => alone),
  };
}

type Found = ReturnType<typeof findAlerts>;
type WatchResult = Awaited<ReturnType<Awaited<ReturnType<typeof openService>>['readWatch']>>;

/** Assigns each alert to the visit that was under way when it opened, or had just ended. */
function findAlerts(
  visits: readonly Visit[],
  watch: WatchResult,
  toFilmed: (time: string) => number,
  lateSeconds: number,
) {
  const first = (visits[0]?.from ?? 0) - 5;
  const last = (visits.at(-1)?.to ?? 0) + lateSeconds;
  const opened = watch.openedAt.map(toFilmed).filter((at) => at >= first && at <= last);
  const byVisit = visits.map(({ from, to }) =>
    opened.filter((at) => at >= from - 1 && at <= to + lateSeconds),
  );
  const matched = new Set(byVisit.flat());
  const alone = opened.filter((at) => !matched.has(at)).length;
  return { watch, byVisit, alone, told: watch.toldAt.map(toFilmed) };
}

/** Describes the visits of a stream: seen by what they show, alerts that are too many, mean and 90th percentile of the time from the begin of a visit to its event. */
function describeVisits(visits: readonly Visit[], { byVisit, alone, told }: Found) {
  const shares = [...Map.groupBy(visits.keys(), (at) => visits[at]?.shows ?? '')].map(([shows, own]) => {
    const seen = own.filter((at) => (byVisit[at]?.length ?? 0) > 0);
    return [shows, `${seen.length}/${own.length}`];
  });
  const delays = visits.flatMap(({ from }) => {
    const first = told.find((at) => at >= from - 1);
    return first !== undefined && first <= from + film.everySeconds ? [first - from] : [];
  });
  return {
    ...Object.fromEntries(shares),
    'without a visit': alone,
    'more than one': byVisit.reduce((sum, alerts) => sum + Math.max(0, alerts.length - 1), 0),
    'told after s':
      delays.length === 0 ? null : `${round(mean(delays), 1)}/${round(quantile(delays, 0.9), 1)}`,
  };
}

async function listClips(folder = ''): Promise<string[]> {
  const files = folder === '' ? [] : await readdir(folder);
  return files
    .filter((file) => file.endsWith('.gif'))
    .toSorted()
    .map((file) => join(folder, file));
}
