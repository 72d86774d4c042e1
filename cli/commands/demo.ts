import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultVideoModelId } from '../../adapters/vision/bedrock/model-families.ts';
import { findNetworkFiles } from '../../adapters/vision/objects/packages.ts';
import type { InputMode } from '../../core/records/capture.ts';
import { CommandError } from '../command-error.ts';
import { estimate } from '../cost/estimate.ts';
import { createApi } from '../demo/api.ts';
import type { DemoApi } from '../demo/api.ts';
import { startLiveHls } from '../demo/live-hls.ts';
import { startRtspServer } from '../demo/rtsp-server.ts';
import { sceneArguments } from '../demo/scene.ts';
import { DemoWait, quietSeconds, WatchedStream } from '../demo/watched-stream.ts';
import { tellStory } from '../demo/story.ts';
import type { Story } from '../demo/story.ts';
import { startWebhookReceiver } from '../demo/webhook-receiver.ts';
import type { Envelope } from '../demo/webhook-receiver.ts';
import { ensureFfmpeg } from '../ensure-ffmpeg.ts';
import { addSettings } from '../settings.ts';
import type { Settings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { openTemporaryFolder } from '../temporary-folder.ts';
import type { Command } from 'commander';
import { parseSettings, visionSettings, wantsJson } from '../parse-options.ts';

/** Adds `watchpost demo`. */
export function addDemo(program: Command, terminal: Terminal): void {
  addSettings(program.command('demo'), ['ffmpeg', 'logLevel', ...visionSettings])
    .description('monitor two generated live streams until their scene changes and signed webhooks arrive')
    .option('--json', 'print one JSON line per event')
    .action(async (raw: unknown) => {
      await demo(parseSettings(raw), terminal, wantsJson(raw));
    });
}

const condition =
  findNetworkFiles() === null ? 'Something red is in the yard' : 'A red stop sign is in the yard';
const signAfterSeconds = 18;
const intervalSeconds = 5;

/** Configuration whose price the demo prints at its end. */
const tenSecondsOfFrames = {
  intervalSeconds: 10,
  mode: 'frames',
  clipSeconds: 3,
  alertsPerHour: 1,
  model: defaultVideoModelId,
} as const;

/**
 * Runs the demo (`watchpost demo`): an HLS and an RTSP stream, a monitor on each, and a receiver that verifies
 * signatures. Throws `CommandError` unless both alerts arrive.
 */
export async function demo(settings: Settings, terminal: Terminal, asJson: boolean): Promise<void> {
  const ffmpeg = await ensureFfmpeg(settings.ffmpeg, process.env, terminal);
  const story = tellStory(terminal, asJson);
  const interruption = new AbortController();
  process.once('SIGINT', () =>
    interruption.abort(new CommandError('Interrupted', 'Run npm run demo again.')),
  );
  await using cleanup = new Cleanup();
  // Loaded on demand: the help loads this file too.
  const { runService } = await import('../service/run-service.ts');
  const { service, credentials, close } = await runService(await demoSettings(settings, cleanup), ffmpeg, {
    write: (line) => terminal.note(line),
    humanReadable: terminal.isTerminal,
  });
  cleanup.defer(close);
  story.say(
    `Watchpost serves on ${credentials.base_url}, with ffmpeg ${ffmpeg.version} and the ${service.deps.vision.provider} model.`,
  );

  const { hlsUrl, rtspUrl } = await startStreams(ffmpeg.path, cleanup);
  story.say(`Two live streams of a yard with noise and a clock: ${hlsUrl} and ${rtspUrl}`);
  story.say(
    `Condition "${condition}", checked every ${intervalSeconds} s. A red stop sign arrives ${signAfterSeconds} s after the start.`,
  );

  const api = createApi(credentials);
  const inbox: Envelope[] = [];
  const receiver = await startWebhookReceiver(credentials.webhook_secret, (event) => inbox.push(event));
  cleanup.defer(() => receiver.close());
  const streams = [
    await watch('HLS', hlsUrl, 'frames', receiver.url, api, story),
    await watch('RTSP', rtspUrl, 'hybrid', receiver.url, api, story),
  ];
  await follow(streams, inbox, story, interruption.signal);
  await sumUp(streams, api, story);
  if (receiver.refused.length > 0)
    throw new CommandError(`Webhook signature is invalid: ${receiver.refused[0]}`, remediation);
  const missing = streams.filter((stream) => !stream.alerted).map((stream) => stream.name);
  if (missing.length > 0)
    throw new CommandError(
      `No alert from ${missing.join(' and ')}, and no check for ${quietSeconds} s, or none that alerts`,
      remediation,
    );
  story.good('Both alerts arrived with valid signatures.');
}

const remediation = 'Run npm run demo again with WATCHPOST_LOG_LEVEL=debug and report the output.';

/**
 * Returns settings for a separate service: own port and data directory, and access to loopback for streams and
 * receiver.
 */
async function demoSettings(settings: Settings, cleanup: Cleanup): Promise<Settings> {
  const folder = cleanup.use(openTemporaryFolder('watchpost-demo-'));
  const logLevel = settings.logLevel === 'debug' ? 'debug' : 'error';
  return {
    ...settings,
    port: 0,
    host: '127.0.0.1',
    publicUrl: '',
    dataDir: folder.path,
    allowRanges: ['127.0.0.0/8'],
    allowWebhookRanges: ['127.0.0.0/8'],
    logLevel,
  };
}

async function startStreams(ffmpegPath: string, cleanup: Cleanup) {
  const inputArgs = sceneArguments({ signAfterSeconds, startsAt: new Date() });
  const rtsp = await startRtspServer({ ffmpegPath, inputArgs, path: '/yard', keyFrameEvery: 10 });
  cleanup.defer(() => rtsp.close());
  const hls = await startLiveHls({
    ffmpegPath,
    inputArgs,
    segmentSeconds: 1,
    host: '127.0.0.1',
  });
  cleanup.defer(() => hls.close());
  return { hlsUrl: hls.url, rtspUrl: rtsp.url };
}

async function watch(
  name: string,
  url: string,
  mode: InputMode,
  webhookUrl: string,
  api: DemoApi,
  story: Story,
) {
  const { job_id: jobId } = await api.createMonitor({
    stream_url: url,
    condition,
    input_mode: mode,
    interval_seconds: intervalSeconds,
    webhook_url: webhookUrl,
    clip_duration_seconds: 1,
  });
  story.event(name, 'monitor', { jobId, mode });
  return new WatchedStream(name, jobId, api, story);
}

/**
 * Prints events until all jobs end. Waits as long as checks or events arrive, since a busy machine takes minutes.
 * Throws on Ctrl+C, so that the caller cleans up.
 */
async function follow(
  streams: WatchedStream[],
  inbox: Envelope[],
  story: Story,
  interrupted: AbortSignal,
): Promise<void> {
  const wait = new DemoWait({ nowMs: () => performance.now(), load: () => loadavg()[0] ?? 0 });
  while (streams.some((stream) => !stream.stopped)) {
    let news = 0;
    for (const stream of streams) news += await stream.readProgress();
    for (const event of inbox.splice(0)) {
      news += 1;
      const stream = streams.find(({ jobId }) => jobId === event.data.job_id);
      if (stream) await stream.take(event);
      else story.say(`Received a webhook of an unknown job: ${event.type}`);
    }
    interrupted.throwIfAborted();
    const { ends, reason } = wait.next(news);
    if (reason !== undefined) story.say(reason);
    if (ends) return;
    await sleep(200);
  }
}

async function sumUp(streams: WatchedStream[], api: DemoApi, story: Story): Promise<void> {
  for (const { name, jobId } of streams) {
    const { status, stats } = await api.job(jobId);
    const captures = stats.frames_skipped + stats.checks_performed;
    const skippedShare = captures === 0 ? 0 : stats.frames_skipped / captures;
    const { total } = await estimate({ ...tenSecondsOfFrames, skippedShare });
    story.event(name, 'summary', {
      ended: `${status} (${stats.reason ?? 'no reason'})`,
      checks: `${stats.checks_performed} checks, ${stats.frames_skipped} of ${captures} captures skipped by the pre-filter`,
      cost: `on AWS about $${total.toFixed(3)} per stream-hour at 10 s with Nova Lite and this share of skipped captures`,
    });
  }
}

/**
 * Steps of a cleanup, which run in reverse order whatever one of them throws: `AsyncDisposableStack`, which Node 22
 * lacks.
 */
class Cleanup implements AsyncDisposable {
  readonly #steps: (() => unknown)[] = [];

  defer(step: () => unknown): void {
    this.#steps.push(step);
  }

  use<Resource extends Disposable>(resource: Resource): Resource {
    this.defer(() => resource[Symbol.dispose]());
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const step = this.#steps.pop();
    if (step === undefined) return;
    try {
      await step();
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }
}
