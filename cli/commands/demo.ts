import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg, availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { defaultVideoModelId } from '../../adapters/vision/bedrock/model-families.ts';
import { findNetworkFiles } from '../../adapters/vision/objects/packages.ts';
import { createClient, type Watchpost, type WebhookEvent, verifyWebhook } from '../../client/index.ts';
import { CommandError } from '../command-error.ts';
import { estimate } from '../cost/estimate.ts';
import { startLiveHls } from '../demo/live-hls.ts';
import { sceneArguments } from '../demo/scene.ts';
import { ensureFfmpeg } from '../ensure-ffmpeg.ts';
import { addSettings, type Settings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { openTemporaryFolder } from '../temporary-folder.ts';
import type { Command } from 'commander';
import { parseSettings, visionSettings, wantsJson } from '../parse-options.ts';

export function addDemo(program: Command, terminal: Terminal): void {
  addSettings(program.command('demo'), ['ffmpeg', 'logLevel', ...visionSettings])
    .description('monitor a generated live stream until its scene changes and a signed webhook arrives')
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
 * Runs the demo (`watchpost demo`): an HLS stream, a monitor on it, and a receiver that verifies signatures. Throws
 * `CommandError` unless the alert arrives.
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

  const live = await startLiveHls({
    ffmpegPath: ffmpeg.path,
    inputArgs: sceneArguments({ signAfterSeconds, startsAt: new Date() }),
    segmentSeconds: 1,
    host: '127.0.0.1',
  });
  cleanup.defer(() => live.close());
  story.say(`A live stream of a yard with noise and a clock: ${live.url}`);
  story.say(
    `Condition "${condition}", checked every ${intervalSeconds} s. A red stop sign arrives ${signAfterSeconds} s after the start.`,
  );

  const client = createClient({ baseUrl: credentials.base_url, apiKey: credentials.api_key });
  const inbox: WebhookEvent[] = [];
  const receiver = await startWebhookReceiver(credentials.webhook_secret, (event) => inbox.push(event));
  cleanup.defer(() => receiver.close());
  const { job_id: jobId } = await client.startMonitor({
    stream_url: live.url,
    condition,
    interval_seconds: intervalSeconds,
    webhook_url: receiver.url,
  });
  story.event('monitor', { jobId });
  const hasAlerted = await follow(jobId, client, inbox, story, interruption.signal);
  await sumUp(jobId, client, story);
  if (receiver.refused.length > 0)
    throw new CommandError(`Webhook signature is invalid: ${receiver.refused[0]}`, remediation);
  if (!hasAlerted)
    throw new CommandError(`No alert, and no check for ${quietSeconds} s, or none that alerts`, remediation);
  story.good('The alert arrived with a valid signature.');
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

/**
 * Prints the checks of the log and the other events as webhooks until the job ends. Waits as long as some arrive, since
 * a busy machine takes minutes. Returns true if an alert has arrived. Throws on Ctrl+C, so that the caller cleans up.
 */
async function follow(
  jobId: string,
  client: Watchpost,
  inbox: WebhookEvent[],
  story: Story,
  interrupted: AbortSignal,
): Promise<boolean> {
  const wait = new DemoWait({ nowMs: () => performance.now(), load: () => loadavg()[0] ?? 0 });
  let [after, hasAlerted] = [0, false];
  for (;;) {
    const page = await client.listEvents(jobId, { after });
    after = page.next_after;
    for (const { type, data } of page.events)
      if (type === 'progress') story.event(type, { explanation: data.explanation });
    const received = inbox.splice(0);
    for (const event of received) {
      story.event(event.type, {
        source: 'webhook, signature verified',
        ...(event.type === 'watch_triggered' && { explanation: event.data.explanation }),
      });
      if (event.type === 'job_stopped') return hasAlerted;
      if (event.type !== 'watch_triggered') continue;
      hasAlerted = true;
      const { frame_b64: frame } = event.data;
      if (frame !== null) story.say(`      evidence: ${await saveFrame(frame)}`);
    }
    interrupted.throwIfAborted();
    const { ends, reason } = wait.next(page.events.length + received.length);
    if (reason !== undefined) story.say(reason);
    if (ends) return hasAlerted;
    await sleep(200);
  }
}

async function saveFrame(base64: string): Promise<string> {
  const folder = resolve('.watchpost');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = `${folder}/demo.jpg`;
  await writeFile(file, Buffer.from(base64, 'base64'));
  return file;
}

async function sumUp(jobId: string, client: Watchpost, story: Story): Promise<void> {
  const { status, stats } = await client.getJob(jobId);
  const captures = stats.frames_skipped + stats.checks_performed;
  const skippedShare = captures === 0 ? 0 : stats.frames_skipped / captures;
  const { total } = await estimate({ ...tenSecondsOfFrames, skippedShare });
  story.event('summary', {
    ended: `${status} (${stats.reason ?? 'no reason'})`,
    checks: `${stats.checks_performed} checks, ${stats.frames_skipped} of ${captures} captures skipped by the pre-filter`,
    cost: `on AWS about $${total.toFixed(3)} per stream-hour at 10 s with Nova Lite and this share of skipped captures`,
  });
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

/**
 * Starts a webhook receiver on loopback that verifies each signature. `refused` lists the errors of rejected requests.
 */
async function startWebhookReceiver(secret: string, onEvent: (event: WebhookEvent) => void) {
  const refused: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      try {
        onEvent(verifyWebhook(secret, request.headers, Buffer.concat(chunks).toString()).event);
        response.writeHead(204).end();
      } catch (error) {
        refused.push(String(error));
        response.writeHead(401).end();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port');
  return {
    url: `http://127.0.0.1:${address.port}/alerts`,
    refused,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Output of the demo: lines with the time since its start, or JSON lines. */
type Story = ReturnType<typeof tellStory>;

function tellStory({ print, color }: Terminal, asJson: boolean) {
  const startedMs = performance.now();
  const line = (text: string) => print(`${color.dim(clock(performance.now() - startedMs))}  ${text}`);
  return {
    say: (text: string) => (asJson ? print(JSON.stringify({ note: text })) : line(text)),
    good: (text: string) => (asJson ? print(JSON.stringify({ result: text })) : line(color.green(text))),
    event: (type: string, details: Record<string, unknown>): void => {
      if (asJson) print(JSON.stringify({ type, ...details }));
      else line(`${paint(type, color)}  ${describe(details)}`);
    },
  };
}

function clock(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1).padStart(5)} s`;
}

function paint(type: string, color: Terminal['color']): string {
  const padded = type.padEnd(15);
  if (type === 'watch_triggered') return color.bold(color.red(padded));
  return type === 'progress' ? color.dim(padded) : color.cyan(padded);
}

function describe(details: Record<string, unknown>): string {
  return Object.values(details)
    .filter((value) => value !== undefined && value !== '')
    .map(String)
    .join('  ');
}

/** Seconds without a check or an event after which the demo ends. */
const quietSeconds = 60;
/** Seconds after which the demo ends in any case. */
const maxSeconds = 900;
/**
 * Seconds after which the demo says why it waits, and between two such lines. The demo takes 30 s on an idle machine.
 */
const patientSeconds = 45;

type WaitDeps = {
  nowMs: () => number;
  /** Load of the machine in the last minute. */
  load: () => number;
};

/** Wait of the demo for its alerts: as long as checks or events arrive. */
export class DemoWait {
  readonly #deps: WaitDeps;
  readonly #startedMs: number;
  #newsMs: number;
  #saidMs: number;

  constructor(deps: WaitDeps) {
    this.#deps = deps;
    this.#startedMs = deps.nowMs();
    this.#newsMs = this.#startedMs;
    this.#saidMs = this.#startedMs;
  }

  /**
   * Notes the number of new checks and events. Returns true in `ends` after a long silence, and from time to time the
   * reason for the wait.
   */
  next(news: number): { ends: boolean; reason?: string } {
    const nowMs = this.#deps.nowMs();
    if (news > 0) this.#newsMs = nowMs;
    const quiet = (nowMs - this.#newsMs) / 1000;
    const waited = Math.round((nowMs - this.#startedMs) / 1000);
    if (quiet >= quietSeconds || waited >= maxSeconds) return { ends: true };
    if (nowMs - this.#saidMs < patientSeconds * 1000) return { ends: false };
    this.#saidMs = nowMs;
    const cores = availableParallelism();
    const load = this.#deps.load();
    const cause = load > cores ? 'The machine is busy' : 'Checks take long';
    return {
      ends: false,
      reason: `${cause} (load ${load.toFixed(1)} on ${cores} cores). Waiting since ${waited} s, last check ${Math.round(quiet)} s ago.`,
    };
  }
}
