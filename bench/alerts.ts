import { setTimeout as sleep } from 'node:timers/promises';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import type { InputMode } from '../core/records/capture.ts';
import { type FilmStream, recordFilm } from './film.ts';
import { describeMachine, findFfmpeg, quantile } from './harness.ts';
import { openService } from './service.ts';
import { startStreams } from './streams.ts';

/**
 * Measures how late alerts are: a service with the object model, and monitors of all modes on the scene of `npm run
 * stream`, all at the same time. Prints the time from the planned check to its commit by stream and mode, of all checks
 * and of those that alert.
 * Usage: npm run bench -- alerts
 */

const measuredSeconds = 120;
const modes: readonly InputMode[] = ['frames', 'clip', 'hybrid'];
/** Longer than two intervals of 5 s in each state, and no multiple of them: checks meet the sign at all places. */
const film = { lengths: [12], everySeconds: 24, seconds: measuredSeconds + 60 };

await using cleanup = new AsyncDisposableStack();
const ffmpeg = await findFfmpeg();
const { path: directory } = cleanup.use(openTemporaryFolder('bench-alerts-'));
const kinds = [
  { name: 'hls', heights: [720], keyFrameSeconds: 1, segmentSeconds: 1 },
  { name: 'rtsp', heights: [720], keyFrameSeconds: 1, segmentSeconds: 0 },
] satisfies FilmStream[];
const live = await recordFilm(ffmpeg.path, directory, film, kinds);
const config = { ffmpegPath: ffmpeg.path, ageSeconds: 10, streams: live };
const streams = cleanup.use(await startStreams(config));
const service = cleanup.use(await openService({ ffmpeg, jobs: kinds.length * modes.length }));
const monitors: string[] = [];
for (const { name } of kinds)
  for (const mode of modes) {
    await service.startMonitor(streams.url(name), {
      condition: 'A stop sign is in the picture',
      input_mode: mode,
      interval_seconds: 5,
      max_triggers: null,
      enable_prefilter: false,
    });
    monitors.push(`${name} ${mode}`);
  }
await sleep(measuredSeconds * 1000);

const rows: Record<string, object> = {};
for (const [index, delays] of (await service.readDelays()).entries()) {
  rows[monitors[index] ?? ''] = {
    checks: delays.checksMs.length,
    ...spread('check', delays.checksMs),
    alerts: delays.alertsMs.length,
    ...spread('alert', delays.alertsMs),
  };
}
console.table(rows);
console.log('check: from its planned time to its commit, ms; alert: the same for the checks that alert');
console.log(describeMachine(ffmpeg));

function spread(name: string, delaysMs: number[]) {
  return { [`${name} p50`]: quantile(delaysMs, 0.5), [`${name} p90`]: quantile(delaysMs, 0.9) };
}
