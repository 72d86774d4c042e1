import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { fetch as operatorFetch } from 'undici';
import { dataPaths, probeDataDirectory } from '../../adapters/embedded/files/data-directory.ts';
import { openForReading } from '../../adapters/embedded/sqlite/database.ts';
import { createRunTable } from '../../adapters/embedded/runs/run-table.ts';
import { verifyMasterSecret } from '../../adapters/embedded/callers/master-secret.ts';
import { createNewestEntry } from '../../adapters/embedded/sqlite/newest-entry.ts';
import { createSourceTable } from '../../adapters/embedded/runs/run-tables.ts';
import { locateFfmpeg, type LocatedFfmpeg } from '../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { testModel, testCondition } from '../../core/observability/model-status.ts';
import { about, worstStatus, type Finding } from '../../core/ports/observability.ts';
import { StreamFetchError } from '../../core/errors.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import { maskUrl } from '../../core/stream/mask-url.ts';
import {
  clipFinding,
  clockFinding,
  diskFinding,
  ffmpegFinding,
  guardFinding,
  portsFinding,
  formatFinding,
} from '../checks/checks.ts';
import { requireReachable } from '../checks/private-address.ts';
import { formatError } from '../exit.ts';
import { listen } from '../service/http-server.ts';
import { createLimits } from '../service/limits.ts';
import { readSparseSeconds } from '../../core/stream/validate-stream.ts';
import { jobPolicies } from '../../core/records/job.ts';
import { hasSession, type Platform } from '../../core/records/platform.ts';
import { createCaptureScheduler } from '../service/capture-scheduler.ts';
import { loadPlatformSettings } from '../service/platforms.ts';
import { addSettings, settingNames, type Settings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { createVisionModel } from '../service/vision-model.ts';
import { openTemporaryFolder } from '../temporary-folder.ts';
import type { Command } from 'commander';
import { parseSettings, wantsJson } from '../parse-options.ts';
import { spawnFfmpeg } from '../../adapters/media/ffmpeg/spawn-ffmpeg.ts';
import { judgeCondition, type VisionModel } from '../../core/ports/vision-model.ts';

export function addDoctor(program: Command, terminal: Terminal): void {
  addSettings(program.command('doctor [urls...]'), settingNames)
    .description(
      'test ffmpeg, model, data, disk, clock, port and streams with these settings, and name next steps',
    )
    .option('--json', 'print the results as JSON')
    .addHelpText(
      'after',
      '\nWithout URLs it tests the streams of running jobs. Exit code 1: at least one check failed.',
    )
    .action(async (urls: string[], raw: unknown) => {
      const status = await doctor(urls, parseSettings(raw), terminal, wantsJson(raw));
      if (status === 'failed') process.exitCode = 1;
    });
}

/** Maximum streams of running jobs that are tested without arguments. */
const maxStreams = 10;
/** Stands for the user of the command, who is no caller. */
const thisUser = '';

/**
 * Tests everything that the service needs, with these settings (`watchpost doctor`): ffmpeg, model, data, disk, clock,
 * ports, guard and streams, those of the arguments or of running jobs. Prints the result and the next step of each.
 * Returns the worst status.
 */
export async function doctor(
  urls: readonly string[],
  settings: Settings,
  terminal: Terminal,
  asJson: boolean,
): Promise<'ok' | 'warning' | 'failed'> {
  const findings: Finding[] = [];
  const report = (finding: Finding) => {
    findings.push(finding);
    if (!asJson) for (const line of formatFinding(finding, terminal.color)) terminal.print(line);
  };
  const ffmpeg = await locateFfmpeg({ setting: settings.ffmpeg, env: process.env }).catch(
    (error: unknown) => error,
  );
  report(isLocated(ffmpeg) ? ffmpegFinding(ffmpeg) : failure('ffmpeg', ffmpeg));
  report(await modelFinding(settings, isLocated(ffmpeg) ? ffmpeg.path : 'ffmpeg', terminal));
  const { data, newestEntry, streamUrls } = await readData(settings.dataDir);
  report(data);
  report(await diskFinding(findExisting(settings.dataDir)));
  report(clockFinding(new Date(), newestEntry));
  report(await portFinding(settings));
  report(guardFinding(settings));
  report(clipFinding(settings));
  const tested = urls.length > 0 ? urls : streamUrls.slice(0, maxStreams);
  if (tested.length > 0 && isLocated(ffmpeg))
    await withCapturer(settings, ffmpeg.path, async (streams) => {
      for (const url of tested) report(await streamFinding(url, settings, streams));
    });
  else if (tested.length > 0) for (const url of tested) report(untested(url));
  else report(about('streams').ok('none tested: no job runs', 'watchpost doctor URL… tests streams'));
  const status = worstStatus(findings);
  if (asJson) terminal.print(JSON.stringify({ status, checks: findings }));
  else if (status === 'ok') terminal.print('All is well.');
  return status;
}

function isLocated(ffmpeg: unknown): ffmpeg is LocatedFfmpeg {
  return typeof ffmpeg === 'object' && ffmpeg !== null && !(ffmpeg instanceof Error);
}

/** Turns an error for the user of the command line into a finding. */
function failure(check: string, error: unknown, prefix = ''): Finding {
  const [first = 'failed', ...rest] = formatError(error);
  return about(check).failed(prefix + first.replace(/^Error: /, ''), rest.join(' ') || null);
}

async function modelFinding(settings: Settings, ffmpegPath: string, terminal: Terminal): Promise<Finding> {
  const waiting = terminal.waiting('Testing the model with a picture');
  const timeoutSeconds = createLimits(settings).visionTimeoutSeconds;
  const clock = { steadyNow: () => new Date(performance.now()), timeoutSeconds };
  const reportModel = (text: string) => waiting.update(`Testing the model with a picture: ${text}`);
  try {
    const vision = createVisionModel(settings, ffmpegPath, { reportModel });
    const finding = await testModel({ vision, ...clock });
    const { callsAtOnce } = vision.capabilities;
    if (callsAtOnce === null || finding.status === 'failed' || finding.status === 'pending') return finding;
    const seconds = await measureCheck(vision, ffmpegPath, clock);
    return { ...finding, message: `${finding.message}; ${describeSpeed(seconds, callsAtOnce)}` };
  } catch (error) {
    return failure('model', error);
  } finally {
    waiting.done();
  }
}

type StoredData = { data: Finding; newestEntry: Date | undefined; streamUrls: string[] };

/** Verifies the database without changing it, and reads what other checks need. */
async function readData(dataDir: string): Promise<StoredData> {
  const { path, database: file, masterSecret } = dataPaths(dataDir);
  const nothing = { newestEntry: undefined, streamUrls: [] };
  const pass = (message: string) => about('data').ok(message, path);
  let database: DatabaseSync | undefined;
  try {
    await probeDataDirectory(dataDir);
    if (!existsSync(file)) return { ...nothing, data: pass('new: the first start creates it') };
    database = openForReading(file);
    await verifyMasterSecret(masterSecret, database);
    const sources = createSourceTable(database);
    const urls = createRunTable(database)
      .active(jobPolicies)
      .flatMap((job) => sources.find(job.source_id)?.url ?? []);
    return {
      data: pass('database verified'),
      newestEntry: createNewestEntry(database)(),
      streamUrls: [...new Set(urls)],
    };
  } catch (error) {
    return { ...nothing, data: { ...failure('data', error), detail: path } };
  } finally {
    database?.close();
  }
}

/** Returns the folder, or its nearest parent that exists. */
function findExisting(folder: string): string {
  const path = resolve(folder);
  return existsSync(path) || dirname(path) === path ? path : findExisting(dirname(path));
}

/** Tests if the port is free, or a Watchpost responds there. */
async function portFinding(settings: Settings): Promise<Finding> {
  const { host, port } = settings;
  try {
    const server = await listen(host, port);
    await server.close();
    return portsFinding(settings, server.port);
  } catch (error) {
    const responds = await respondsAsWatchpost(host, port);
    if (!responds) return failure('ports', error);
    const { message, ...rest } = portsFinding(settings, port);
    return { ...rest, message: `a Watchpost ${message}` };
  }
}

async function respondsAsWatchpost(host: string, port: number): Promise<boolean> {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host;
  try {
    const signal = AbortSignal.timeout(2000);
    const response = await operatorFetch(`http://${reachable}:${port}/healthz`, { signal });
    return (await response.text()) === '{"status":"ok"}';
  } catch {
    return false;
  }
}

async function withCapturer(
  settings: Settings,
  ffmpegPath: string,
  work: (streams: StreamCapturer) => Promise<void>,
): Promise<void> {
  using folder = openTemporaryFolder('watchpost-doctor-');
  const platforms = await loadPlatformSettings(settings);
  const { http, streams, closeSessions } = createCaptureScheduler({
    egress: { allowRanges: settings.allowRanges },
    platforms,
    ffmpegPath,
    tempDir: folder.path,
    now: () => new Date(),
    maxRtspSessions: maxStreams,
  });
  try {
    await work(streams);
  } finally {
    await closeSessions();
    await http.close();
  }
}

function untested(url: string): Finding {
  return about('streams').warning(
    'not tested: there is no usable ffmpeg',
    'Install ffmpeg as described above, then run watchpost doctor again.',
    maskUrl(url),
  );
}

/** Captures one frame of a stream. */
async function streamFinding(url: string, settings: Settings, streams: StreamCapturer): Promise<Finding> {
  const startedMs = performance.now();
  const shown = maskUrl(url);
  try {
    await requireReachable(url, settings.allowRanges);
    const signal = AbortSignal.timeout(createLimits(settings).captureTimeoutSeconds * 1000);
    const { platform } = await streams.probe(url, signal, thisUser);
    const capture = await streams.capture(
      { url, mode: 'frames', clipSeconds: 1, resolveAgain: false, measuresKeyFrames: true, caller: thisUser },
      signal,
    );
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    const sparseSeconds = readSparseSeconds(capture);
    const isSparse = sparseSeconds !== undefined;
    const sparse = `, a ${hasSession(platform) ? 'key frame' : 'picture'} every ${sparseSeconds} s or more`;
    return {
      check: 'streams',
      status: isSparse ? 'warning' : 'ok',
      message: `${platform}, tested in ${seconds} s${isSparse ? sparse : ''}`,
      next: isSparse ? sparseRemedy(platform) : null,
      detail: shown,
    };
  } catch (error) {
    const isDamaged = error instanceof StreamFetchError && error.isDamaged;
    const lost = isDamaged && { message: 'pictures arrive damaged: packets are lost' };
    return { ...failure('streams', error), ...lost, detail: shown };
  }
}

function sparseRemedy(platform: Platform): string {
  return platform === 'jpeg'
    ? 'Use a longer interval, or another address of the camera: a check sees nothing newer than its last picture.'
    : 'Set the key frame interval of the encoder to 2 s: a check sees nothing newer than the last key frame.';
}

/** Interval of the streams in the sentence, in seconds. */
const intervalSeconds = 60;

/**
 * Returns how long a check takes on this machine, and how many streams that serves: "a check takes 6 s here: 10 streams
 * at 60 s".
 */
export function describeSpeed(seconds: number, callsAtOnce: number): string {
  const shown = seconds < 10 ? Number(seconds.toFixed(1)) : Math.round(seconds);
  const streams = Math.floor((intervalSeconds * callsAtOnce) / seconds);
  return streams === 0
    ? `a check takes ${shown} s here: not even one stream at ${intervalSeconds} s`
    : `a check takes ${shown} s here: ${streams} ${streams === 1 ? 'stream' : 'streams'} at ${intervalSeconds} s`;
}

/** Measures one check of a picture as captures are, with a model that is loaded. */
async function measureCheck(
  vision: Pick<VisionModel, 'judge'>,
  ffmpegPath: string,
  { steadyNow, timeoutSeconds }: { steadyNow: () => Date; timeoutSeconds: number },
): Promise<number> {
  const signal = AbortSignal.timeout(timeoutSeconds * 1000);
  const frame = await drawPicture(ffmpegPath, signal);
  const startedAt = steadyNow();
  await judgeCondition(vision, { mode: 'frames', frame }, { condition: testCondition }, signal);
  return (steadyNow().getTime() - startedAt.getTime()) / 1000;
}

async function drawPicture(ffmpegPath: string, signal: AbortSignal): Promise<Uint8Array> {
  const args = '-v error -f lavfi -i testsrc2=size=896x504 -frames:v 1 -c:v mjpeg -f image2pipe pipe:1';
  const outcome = await spawnFfmpeg(
    { ffmpegPath, args: args.split(' '), outputBytes: 4e6, timeoutMs: 10_000 },
    signal,
  );
  if (outcome.ended === 'exited' && outcome.exitCode === 0) return outcome.stdout;
  throw new Error('ffmpeg draws no picture');
}
