import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import { type Film, type FilmStream, listVisits, recordFilm, type Visit } from './film.ts';
import { describeMachine, findFfmpeg, mean, quantile, round, startProcessorClock } from './harness.ts';
import { openService } from './service.ts';
import { collectOutput, startStreams, words } from './streams.ts';

/**
 * Measures which visits a watch sees. A film whose visits are known to the frame is live over HLS (segments of 2, 6 and
 * 10 s, one and three renditions) and RTSP (a key frame every 1, 2 and 10 s). A watch with the object model and the
 * defaults is on each stream, once without looking back and once with it. Prints the share of visits with an alert by
 * what they show, alerts without a visit, alerts more than one of a visit, clips whose first picture is before their
 * visit, calls and processor time of a stream.
 * Usage: npm run bench -- visits
 *   --lengths 8,6,4      lengths of the visits in turn, in seconds
 *   --every 31           seconds from a visit to the next
 *   --minutes 8          duration of each of the two measurements
 *   --streams hls        only streams with these names, or whose name contains the text
 *   --copies 1           streams of each kind
 *   --only with|without  measures only with or only without looking back
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
    clips: { type: 'string' },
    condition: { type: 'string', default: 'A stop sign is in the picture' },
  },
});
const seconds = Number(values.minutes) * 60;
/** Time for which the streams have played before the first check. */
const leadSeconds = 20;
/**
 * Time from the start of the watches to the measurement: the first check has nothing to look back at, and loads the
 * model.
 */
const settleSeconds = 15;
const film: Film = {
  lengths: values.lengths.split(',').map(Number),
  everySeconds: Number(values.every),
  seconds: leadSeconds + settleSeconds + seconds + 60,
  clips: await listClips(values.clips),
};
const all: FilmStream[] = [
  { name: 'hls-2', heights: [720], keyFrameSeconds: 2, segmentSeconds: 2, windowSeconds: 30 },
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
for (const [name, results] of Object.entries({ without, with: withLookBack }))
  if (results)
    console.log(
      `${name} looking back: ${results.calls} pictures sent to the model, ${results.checks} captures judged, ${round(results.processorMs)} ms of processor time for a second of a stream`,
    );
if (without && withLookBack) {
  const ratio = (part: 'checks' | 'calls' | 'processorMs') => round(withLookBack[part] / without[part]);
  console.log(
    `ratios: pictures ${ratio('calls')}, captures judged ${ratio('checks')}, processor time ${ratio('processorMs')}`,
  );
}
console.log(describeMachine(ffmpeg));

async function measure(lookBack: boolean) {
  const config = { ffmpegPath: ffmpeg.path, ageSeconds: leadSeconds, streams: live };
  await using streams = await startStreams(config);
  await using service = await openService({ ffmpeg, jobs: live.length });
  for (const { name } of live)
    await service.startWatch(streams.url(name).replace('live.m3u8', 'master.m3u8'), {
      name,
      conditions: [{ condition: values.condition }],
      look_back: lookBack,
    });
  await sleep(settleSeconds * 1000);
  const fromMs = Date.now();
  const readClock = startProcessorClock();
  await sleep(seconds * 1000);
  const { usedMs } = readClock();
  const toMs = Date.now();
  // Alerts of the last visits: a segment and the next check may be 10 s each.
  await sleep(30_000);
  const toTime = (seconds: number) => streams.startedAtMs + seconds * 1000;
  const toFilmed = (time: string) => (Date.parse(time) - streams.startedAtMs) / 1000;
  const visits = listVisits(film).filter(({ from, to }) => toTime(from) > fromMs && toTime(to) < toMs);
  const totals = { checks: 0, calls: 0, processorMs: usedMs / seconds / live.length };
  const rows: Record<string, object> = {};
  for (const [index, { name, segmentSeconds }] of live.entries()) {
    const watch = await service.readWatch(index);
    totals.checks += watch.checks;
    totals.calls += watch.modelCalls;
    rows[`${name}${lookBack ? ', looking back' : ''}`] = {
      // A segment is listed once it is over, and an alert has the time of the service.
      ...countAlerts(visits, watch.openedAt.map(toFilmed), 4 + 2 * segmentSeconds),
      ...(await countClips(
        visits,
        watch.clips.map((clip) => ({ ...clip, at: toFilmed(clip.openedAt) })),
      )),
      'told after s': describeDelays(visits, watch.toldAt.map(toFilmed)),
      'sure from s': watch.shortestSeconds,
      coverage: watch.coverage,
      checks: watch.checks,
      calls: watch.modelCalls,
    };
  }
  return { rows, ...totals };
}

/**
 * Assigns alerts to the visits that were under way when they opened, or had just ended. Counts visits with one by what
 * they show, and alerts that are too many.
 */
function countAlerts(visits: readonly Visit[], openedAt: readonly number[], lateSeconds: number) {
  const byVisit = visits.map(({ from, to }) =>
    openedAt.filter((seconds) => seconds >= from - 1 && seconds <= to + lateSeconds),
  );
  const matched = new Set(byVisit.flat());
  const first = (visits[0]?.from ?? 0) - 5;
  const last = (visits.at(-1)?.to ?? 0) + lateSeconds;
  const shares = [...Map.groupBy(visits.keys(), (index) => visits[index]?.shows ?? '')].map(
    ([shows, own]) => {
      const seen = own.filter((index) => (byVisit[index]?.length ?? 0) > 0);
      return [shows, `${seen.length}/${own.length}`];
    },
  );
  return {
    ...Object.fromEntries(shares),
    'without a visit': openedAt.filter(
      (seconds) => seconds >= first && seconds <= last && !matched.has(seconds),
    ).length,
    'more than one': byVisit.reduce((sum, alerts) => sum + Math.max(0, alerts.length - 1), 0),
  };
}

type FilmedClip = { at: number; film: Uint8Array | null; reason: string | null };

/** Counts the alerts of visits, and those whose clip begins before the sign, with the reasons of others. */
async function countClips(visits: readonly Visit[], clips: readonly FilmedClip[]) {
  const own = clips.filter(({ at }) => visits.some(({ from, to }) => at >= from - 1 && at <= to + 1));
  const lacks: string[] = [];
  for (const { film, reason } of own)
    if (film === null) lacks.push(reason ?? '');
    else if (await beginsWithSign(film)) lacks.push('begins late');
  return {
    'clips that begin before': `${own.length - lacks.length}/${own.length}`,
    ...(lacks.length > 0 && { 'other clips': lacks.join(', ') }),
  };
}

/** Returns true if the first picture of a clip of the scene shows the red of the sign. */
async function beginsWithSign(clip: Uint8Array): Promise<boolean> {
  const file = join(directory, 'clip.mp4');
  await writeFile(file, clip);
  const raw = words(`-i ${file} -frames:v 1 -vf scale=64:36:flags=area -f rawvideo -pix_fmt rgb24 pipe:1`);
  const levels = await collectOutput(ffmpeg.path, raw);
  for (let index = 0; index < levels.length; index += 3)
    if ((levels[index] ?? 0) > 130 && (levels[index + 1] ?? 0) < 80 && (levels[index + 2] ?? 0) < 90)
      return true;
  return false;
}

/** Returns mean and 90th percentile of the time from the begin of a visit to its event. */
function describeDelays(visits: readonly Visit[], toldAt: readonly number[]): string | null {
  const delays = visits.flatMap(({ from }) => {
    const first = toldAt.find((seconds) => seconds >= from - 1);
    return first !== undefined && first <= from + film.everySeconds ? [first - from] : [];
  });
  return delays.length === 0 ? null : `${round(mean(delays), 1)}/${round(quantile(delays, 0.9), 1)}`;
}

async function listClips(folder = ''): Promise<string[]> {
  const files = folder === '' ? [] : await readdir(folder);
  return files
    .filter((file) => file.endsWith('.gif'))
    .toSorted()
    .map((file) => join(folder, file));
}
