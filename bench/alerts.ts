import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import type { InputMode } from '../core/records/capture.ts';
import { recordFilm } from './film.ts';
import { describeMachine, findFfmpeg, quantile, readProcessorTimes } from './harness.ts';
import { openService } from './service.ts';
import { startStreams } from './streams.ts';

/**
 * Measures how late alerts are: a service with the object model, and monitors of all modes on the scene of `npm run stream`, all at the same time. Prints the
 * time from the planned check to its commit by stream and mode, of all checks and of those that alert.
 * Usage: node bench/alerts.ts
 *   --seconds 120    duration of the measurement
 */

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '120' } } });
const protocols = ['hls', 'rtsp'] as const;
const modes: readonly InputMode[] = ['frames', 'clip', 'hybrid'];
/** Longer than two intervals of 5 s in each state, and no multiple of them: checks meet the sign at all places. */
const film = { lengths: [12], everySeconds: 24, seconds: Number(values.seconds) + 60 };

await using cleanup = new AsyncDisposableStack();
const ffmpeg = await findFfmpeg();
const { path: directory } = cleanup.use(openTemporaryFolder('bench-alerts-'));
const kinds = protocols.map((name) => ({
  name,
  heights: [720] as const,
  keyFrameSeconds: 1,
  segmentSeconds: name === 'hls' ? 1 : 0,
}));
const live = await recordFilm(ffmpeg.path, directory, film, kinds);
const config = { ffmpegPath: ffmpeg.path, ageSeconds: 10, delayMs: 0, streams: live };
const streams = cleanup.use(await startStreams(config));
const service = cleanup.use(
  await openService({ ffmpeg, jobs: protocols.length * modes.length, settings: { vision: 'objects' } }),
);
const monitors: string[] = [];
for (const protocol of protocols)
  for (const mode of modes) {
    await service.startMonitor(streams.url(protocol), {
      condition: 'A stop sign is in the picture',
      input_mode: mode,
      interval_seconds: 5,
      max_triggers: null,
      enable_prefilter: false,
    });
    monitors.push(`${protocol} ${mode}`);
  }
const before = readProcessorTimes();
await sleep(Number(values.seconds) * 1000);
const after = readProcessorTimes();

const rows: Record<string, object> = {};
let checks = 0;
for (const [index, delays] of (await service.readDelays()).entries()) {
  checks += delays.checksMs.length;
  rows[monitors[index] ?? ''] = {
    checks: delays.checksMs.length,
    ...spread('check', delays.checksMs),
    alerts: delays.alertsMs.length,
    ...spread('alert', delays.alertsMs),
  };
}
console.table(rows);
const usedMs = after.ownMs + after.childrenMs - before.ownMs - before.childrenMs;
console.log('check: from its planned time to its commit, ms; alert: the same for the checks that alert');
console.log(`${Math.round(usedMs / checks)} ms of processor time per check (service and ffmpeg)`);
console.log(describeMachine(ffmpeg));

function spread(name: string, delaysMs: number[]) {
  return { [`${name} p50`]: quantile(delaysMs, 0.5), [`${name} p90`]: quantile(delaysMs, 0.9) };
}
