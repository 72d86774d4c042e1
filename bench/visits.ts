import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import type { Watch } from '../client/openapi-types.ts';
import {
  describeMachine,
  findFfmpeg,
  mean,
  quantile,
  readProcessorTimes,
  round,
  startProcess,
} from './harness.ts';
import { openService } from './service.ts';
import { judgeClips } from './visits/judge-clips.ts';
import { listVisits, recordFilm, type Recording, type Visit } from './visits/film.ts';

/**
 * Measures which visits a watch sees. A film whose visits are known to the frame is live over HLS (segments of 2, 6 and 10 s, one and three renditions) and RTSP
 * (a key frame every 1, 2 and 10 s). A watch with the object model and the defaults is on each stream, once with looking back and once without. Prints the
 * share of visits with an alert by their length, alerts without a visit, alerts more than one of a visit, calls, processor time and bandwidth of a stream.
 * Usage: node bench/visits.ts
 *   --lengths 8,6,4      lengths of the visits in turn, in seconds
 *   --every 31           seconds from a visit to the next
 *   --minutes 8          duration of each of the two measurements
 *   --interval 10        seconds between the checks of a watch
 *   --streams hls        only streams with these names, or whose name contains the text
 *   --copies 1           streams of each kind
 *   --only with          measures only with (or only without) looking back
 *   --follow             follows the HLS streams, so that motion causes a check
 *   --no-wakes           motion causes no check
 *   --clips FOLDER       GIFs of which each visit shows one in turn, with cuts to the scene; the condition is then that of `--condition`. Prints beside the visits
 *                        seen in how many of a clip's own frames, one a second, the model sees it: the other misses are those of the scan
 *   --condition TEXT     default: A stop sign is in the picture
 *   --ffmpeg PATH
 */

const { values } = parseArgs({
  options: {
    lengths: { type: 'string', default: '8,6,4' },
    every: { type: 'string', default: '31' },
    minutes: { type: 'string', default: '8' },
    interval: { type: 'string', default: '10' },
    streams: { type: 'string', default: '' },
    copies: { type: 'string', default: '1' },
    only: { type: 'string' },
    follow: { type: 'boolean', default: false },
    'no-wakes': { type: 'boolean', default: false },
    clips: { type: 'string' },
    condition: { type: 'string', default: 'A stop sign is in the picture' },
    ffmpeg: { type: 'string' },
  },
});
const schedule = { lengths: values.lengths.split(',').map(Number), everySeconds: Number(values.every) };
const seconds = Number(values.minutes) * 60;
/** Time for which the streams run before the first check, and after the last visit. */
const leadSeconds = 20;
const filmSeconds = leadSeconds + seconds + 60;
const all: Recording[] = [
  { name: 'hls-2', heights: [720], keyFrameSeconds: 2, segmentSeconds: 2 },
  { name: 'hls-6', heights: [720], keyFrameSeconds: 2, segmentSeconds: 6 },
  { name: 'hls-10', heights: [720], keyFrameSeconds: 10, segmentSeconds: 10 },
  { name: 'hls-2-renditions', heights: [720, 360, 180], keyFrameSeconds: 2, segmentSeconds: 2 },
  { name: 'rtsp-1', heights: [720], keyFrameSeconds: 1 },
  { name: 'rtsp-2', heights: [720], keyFrameSeconds: 2 },
  { name: 'rtsp-10', heights: [720], keyFrameSeconds: 10 },
];
const named = all.filter(({ name }) => values.streams.split(',').includes(name));
const recordings = named.length > 0 ? named : all.filter(({ name }) => name.includes(values.streams));
const copies = Array.from({ length: Number(values.copies) }, (_, index) =>
  index === 0 ? '' : `~${index + 1}`,
);
const clips = values.clips === undefined ? [] : await listClips(values.clips);
const startSchema = z.object({ port: z.number(), startedAtMs: z.number() });

await using cleanup = new AsyncDisposableStack();
const ffmpeg = await findFfmpeg(values.ffmpeg);
const { path: directory } = cleanup.use(openTemporaryFolder('bench-visits-'));
const shown = await recordFilm(ffmpeg.path, directory, { schedule, seconds: filmSeconds, clips }, recordings);
const without = values.only === 'with' ? undefined : await measure(false);
const withLookBack = values.only === 'without' ? undefined : await measure(true);
console.table({ ...without?.rows, ...withLookBack?.rows });
if (clips.length > 0) {
  const judged = await judgeClips(ffmpeg.path, clips, shown, values.condition);
  for (const measured of [without, withLookBack])
    if (measured)
      console.table(
        Object.fromEntries(
          Object.entries(measured.seenByClip).map(([clip, seen]) => [clip, { ...seen, ...judged[clip] }]),
        ),
      );
}
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

type Stream = { name: string; url: string; startedAtMs: number; segmentSeconds: number };

async function measure(lookBack: boolean) {
  await using stack = new AsyncDisposableStack();
  const { streams, readBytes } = await startStreams(stack);
  await sleep(leadSeconds * 1000);
  await using service = await openService({
    ffmpeg,
    jobs: streams.length,
    wakes: !values['no-wakes'],
    settings: { vision: 'objects' },
  });
  const watches = [];
  for (const stream of streams) {
    const request = {
      name: stream.name,
      stream_url: stream.url,
      interval_seconds: Number(values.interval),
      conditions: [{ condition: values.condition }],
      look_back: lookBack,
      follow: values.follow,
    };
    const { watch_id: id } = await service.client.createWatch(request);
    watches.push({ ...stream, id, createdAtMs: Date.now() });
  }
  const bytesBefore = await readBytes();
  const before = readProcessorTimes();
  await sleep(seconds * 1000);
  const after = readProcessorTimes();
  const bytesAfter = await readBytes();
  const endedAtMs = Date.now();
  // Alerts of the last visits.
  await sleep(15_000);
  const usedMs = after.ownMs + after.childrenMs - before.ownMs - before.childrenMs;
  const rows: Record<string, object> = {};
  const sums = {
    checks: 0,
    calls: 0,
    processorMs: usedMs / seconds / streams.length,
    seen: 0,
    visits: 0,
    alone: 0,
  };
  const seenByClip: Record<string, { seen: number; visits: number }> = {};
  for (const { name, id, startedAtMs, createdAtMs, segmentSeconds } of watches) {
    // A segment is listed once it is over, and an alert has the time of the service.
    const lateSeconds = 4 + 2 * segmentSeconds;
    const [watch, { alerts }, { total }, { events }] = await Promise.all([
      service.client.getWatch(id),
      service.client.listAlerts({ watch_id: id, limit: 100 }),
      service.client.watchStats(id),
      service.client.listWatchEvents(id, { limit: 1000 }),
    ]);
    sums.checks += total.checks;
    sums.calls += total.model_calls;
    const toMs = (filmed: number) => startedAtMs + filmed * 1000;
    const visits = listVisits(schedule, filmSeconds)
      .map((visit, index) => ({ ...visit, clip: clips[index % clips.length] ?? '' }))
      // The first check of a watch has nothing to look back at.
      .filter(({ from, to }) => toMs(from) > createdAtMs + 15_000 && toMs(to) < endedAtMs);
    const opened = alerts.map(({ opened_at }) => (Date.parse(opened_at) - startedAtMs) / 1000);
    const last = visits.at(-1)?.to ?? 0;
    const counted = opened.filter((at) => at >= (visits[0]?.from ?? 0) - 5 && at <= last + lateSeconds);
    const told = events
      .filter(({ type }) => type === 'alert_opened')
      .map(({ timestamp }) => (Date.parse(timestamp) - startedAtMs) / 1000);
    for (const { from, to, clip } of visits) {
      const isSeen = counted.some((at) => at >= from - 1 && at <= to + lateSeconds);
      sums.visits += 1;
      sums.seen += isSeen ? 1 : 0;
      const own = (seenByClip[basename(clip)] ??= { seen: 0, visits: 0 });
      own.visits += 1;
      own.seen += isSeen ? 1 : 0;
    }
    sums.alone += counted.filter(
      (at) => !visits.some(({ from, to }) => at >= from - 1 && at <= to + lateSeconds),
    ).length;
    rows[`${name}${lookBack ? ', looking back' : ''}`] = {
      ...describeVisits(visits, counted, lateSeconds),
      'told after s': describeDelays(visits, told),
      'sure from s': shortestVisit(watch),
      coverage: total.coverage,
      checks: total.checks,
      calls: total.model_calls,
      'kB/s': round(((bytesAfter[name] ?? 0) - (bytesBefore[name] ?? 0)) / seconds / 1000, 1),
    };
  }
  return { rows, seenByClip, ...sums };
}

/** Returns mean and 90th percentile of the time from the begin of a visit to the event of its alert. */
function describeDelays(visits: readonly Visit[], told: readonly number[]): string | null {
  const delays = visits.flatMap(({ from }) => {
    const first = told.find((at) => at >= from - 1);
    return first !== undefined && first <= from + schedule.everySeconds ? [first - from] : [];
  });
  return delays.length === 0 ? null : `${round(mean(delays), 1)}/${round(quantile(delays, 0.9), 1)}`;
}

async function listClips(folder: string): Promise<string[]> {
  const files = await readdir(folder);
  return files
    .filter((file) => file.endsWith('.gif'))
    .toSorted()
    .map((file) => join(folder, file));
}

/** Compares alerts with visits: one counts for the visit that was under way when it opened, or had just ended. */
function describeVisits(visits: readonly Visit[], opened: readonly number[], lateSeconds: number) {
  const found = visits.map(({ from, to }) => opened.filter((at) => at >= from - 1 && at <= to + lateSeconds));
  const shares = schedule.lengths.map((length) => {
    const ofLength = found.filter((_, index) => isLength(visits[index], length));
    return [
      `${length} s`,
      `${ofLength.filter(({ length: alerts }) => alerts > 0).length}/${ofLength.length}`,
    ];
  });
  const matched = found.flat();
  const delays = found.flatMap((alerts, index) =>
    alerts.slice(0, 1).map((at) => at - (visits[index]?.from ?? 0)),
  );
  return {
    ...Object.fromEntries(shares),
    'without a visit': opened.filter((at) => !matched.includes(at)).length,
    'more than one': found.reduce((sum, alerts) => sum + Math.max(0, alerts.length - 1), 0),
    'opened after s': delays.length === 0 ? null : `${round(mean(delays), 1)}/${quantile(delays, 0.9)}`,
  };
}

function isLength(visit: Visit | undefined, length: number): boolean {
  return visit !== undefined && Math.abs(visit.to - visit.from - length) < 0.01;
}

function shortestVisit({ state }: Watch): number | null {
  return state.shortest_visit_seconds;
}

async function startStreams(stack: AsyncDisposableStack) {
  const streams: Stream[] = [];
  const live = recordings.flatMap((recording) =>
    copies.map((copy) => ({ ...recording, name: `${recording.name}${copy}`, file: recording.name })),
  );
  const hls = live.filter(({ segmentSeconds }) => segmentSeconds !== undefined);
  const described = hls.map(
    ({ name, segmentSeconds, heights }) => `${name}:${segmentSeconds}:${heights.join('+')}`,
  );
  const server = stack.use(await startProcess('visits/hls-process.ts', directory, ...described));
  const { port, startedAtMs } = startSchema.parse(JSON.parse(server.firstMessage));
  for (const { name, segmentSeconds = 0 } of hls)
    streams.push({ name, url: `http://127.0.0.1:${port}/${name}/master.m3u8`, startedAtMs, segmentSeconds });
  for (const { name, segmentSeconds, file } of live) {
    if (segmentSeconds !== undefined) continue;
    const camera = stack.use(
      await startProcess('capture/rtsp-process.ts', ffmpeg.path, `${directory}/${file}.mp4`),
    );
    const started = startSchema.parse(JSON.parse(camera.firstMessage));
    streams.push({
      name,
      url: `rtsp://127.0.0.1:${started.port}/camera`,
      startedAtMs: started.startedAtMs,
      segmentSeconds: 0,
    });
  }
  const readBytes = async () => z.record(z.string(), z.number()).parse(JSON.parse(await server.ask('bytes')));
  return { streams, readBytes };
}
