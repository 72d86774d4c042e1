import { embeddedRuns, jobRuns, watchRuns, type JobRuns, type WatchRuns } from './select-runs.ts';
import { onTestFinished } from 'vitest';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createCallerEraser, createCallerStore } from '../../adapters/embedded/callers/caller-store.ts';
import { createCallLimiter } from '../../adapters/embedded/callers/call-limiter.ts';
import { openDatabase } from '../../adapters/embedded/sqlite/database.ts';
import { createDeliveryStore } from '../../adapters/embedded/queue/delivery-store.ts';
import { createEventSessions } from '../../adapters/embedded/web/event-sessions.ts';
import type { EmbeddedJobStore } from '../../adapters/embedded/runs/job-store.ts';
import { createKeyStore } from '../../adapters/embedded/callers/key-store.ts';
import { createUsageLedger, createMeter } from '../../adapters/embedded/callers/usage.ts';
import { publishCommits } from '../../core/delivery/publish.ts';
import { createCallerUsage } from '../../adapters/caller-usage.ts';
import { createAlertId } from '../../adapters/machine.ts';
import { createLogBuffer, teeLog } from '../../adapters/embedded/log/log.ts';
import { setSystemTimer } from '../../core/time-limit.ts';
import { pollingSignals } from '../../core/ports/event-sessions.ts';
import type { HttpDeps } from '../../adapters/http/dependencies.ts';
import { isLoopback } from '../../adapters/http/guard-host.ts';
import { createRequestBodies } from '../../adapters/http/request-bodies.ts';
import { meteredVision } from '../../adapters/vision/metered-vision.ts';
import { createWebhookSigner } from '../../adapters/signers.ts';
import { validVersions } from '../../core/records/caller.ts';
import type { Capture } from '../../core/records/capture.ts';
import type { EarlierMotion } from '../../core/records/motion.ts';
import type { DeliveryMessage } from '../../core/records/delivery.ts';
import { StreamFetchError } from '../../core/errors.ts';
import { framePictures } from '../../adapters/media/scan/frame-pictures.ts';
import type { CoreDeps } from '../../core/dependencies.ts';
import { type ScanningCapturer, unlimitedTurns } from '../../core/ports/stream-capturer.ts';
import { summarizeWindows } from '../../core/policies/digest/summarize-windows.ts';
import { evidenceLinks, messageFacts } from './watches/watch-records.ts';
import { createAddressPace } from '../../core/delivery/address-pace.ts';
import type { DeliverDeps } from '../../core/delivery/delivery-target.ts';
import type { WatchSettings } from '../../core/policies/watch/policy.ts';
import { analyzeTask, captureTask } from '../../core/workflow/tasks.ts';
import type { WebhookResult } from '../../core/ports/delivery.ts';
import { createDestinations } from '../../adapters/destinations/destination-sender.ts';
import type { HttpSender } from '../../adapters/destinations/http-sender.ts';
import { createMemoryMedia } from '../../core/ports/media-store.ts';
import { freePace } from '../../core/ports/pace.ts';
import { redactedLog } from '../../core/observability/redact.ts';
import type { Sample } from '../../core/ports/vision-model.ts';
import { digestRequestSchema } from '../../core/policies/digest/create.ts';
import { monitorRequestSchema } from '../../core/policies/monitor/create.ts';
import type { Answer } from '../../core/records/vision.ts';
import type { ExecutionInput, WorkflowState } from '../../core/records/workflow.ts';
import { noUsage } from '../../core/ports/runs.ts';
import { start } from '../contract/records.ts';
import { judgingEach, scriptedModel } from './scripted-model.ts';

/** Request to a receiver, as text. */
export type SentRequest = { url: string; headers: Record<string, string>; body: string };

/** Scripted result of a fake: a value, or an error to throw. */
type Scripted<T> = T | Error;

/**
 * Creates the core with a real store in memory, scripted adapters and a manual clock, until the end of the test.
 */
export function createWorld(limits: Partial<HttpDeps['limits']> = {}) {
  const database = openDatabase(':memory:');
  onTestFinished(() => database.close());
  const clock = { now: start };
  /** Total adjustment of the wall clock, now and at the end of each step, in milliseconds. */
  let stepped = 0;
  const steppedBefore = new WeakMap<WorkflowState, number>();
  const pictures = new Map<string, Uint8Array>();
  const executions = new Map<string, 'running' | 'aborted'>();
  const queued: DeliveryMessage[] = [];
  const queuedForDestinations: DeliveryMessage[] = [];
  const sent: SentRequest[] = [];
  const signer = createWebhookSigner({
    masterSecret: Buffer.alloc(32, 7),
    versions: async (caller) => validVersions(await callers.find(caller), clock.now),
  });
  /** Requests to the webhooks of jobs. */
  const http: HttpSender = {
    send: async (request) => {
      sent.push({ ...request, body: String(request.body) });
      return { status: 204, latencyMs: 1, error: null, retryAfter: null, ...script.webhooks.shift() };
    },
  };
  const logged: string[] = [];
  const summarized: Sample[][] = [];
  const script = {
    probe: undefined as Error | undefined,
    captures: [] as Scripted<Partial<Capture>>[],
    verdicts: [] as Scripted<boolean>[],
    answers: [] as Scripted<Partial<Answer>>[],
    summaries: [] as Scripted<string>[],
    webhooks: [] as Partial<WebhookResult>[],
    moved: [] as boolean[],
    black: [] as boolean[],
    /** Comparisons of the frames that the scan of a capture found. */
    earlier: [] as EarlierMotion[][],
  };
  let segment = 0;

  const now = () => clock.now;
  const recentLog = createLogBuffer({ level: 'debug', now });
  const output = { debug: log, info: log, warning: log, error: log };
  const meter = createMeter({ startedAt: start, jobsBefore: noUsage });
  const callers = createCallerStore(database);
  const { runs, jobs: storedJobs, watches, moments } = embeddedRuns(database);

  const c: Omit<CoreDeps & HttpDeps, 'jobs' | 'watches' | 'streams'> & {
    streams: ScanningCapturer;
    jobs: EmbeddedJobStore & JobRuns;
    watches: WatchRuns;
  } & Pick<WatchSettings, 'createAlertId' | 'modelPrice'> &
    Pick<DeliverDeps, 'evidenceLinks' | 'messageFacts' | 'addressPace'> = {
    runs,
    jobs: storedJobs,
    watches,
    moments,
    createAlertId,
    evidenceLinks,
    messageFacts,
    addressPace: createAddressPace(() => clock.now),
    destinations: {
      offered: { types: ['webhook', 'slack', 'email'], recipients: ['@example.com', 'duty@example.org'] },
      reasonToRefuse: ({ to }) =>
        to === 'nobody@example.com' ? 'The operator does not allow this recipient' : null,
      send: async () => ({ outcome: 'delivered', status: 200, latencyMs: 12, error: null, retryAfter: null }),
      end: async () => null,
      sendEnvelope: createDestinations({
        http: { send: (request) => http.send(request) },
        signer,
        now: () => clock.now,
      }).sendEnvelope,
    },
    modelPrice: { input: 0, output: 0, pictureTokens: 0, videoTokensPerSecond: 0 },
    usage: createCallerUsage({
      ledger: createUsageLedger(database),
      modelPrice: { input: 0.000_06, output: 0.000_24 },
      log: output,
      now,
    }),
    callers,
    eraser: createCallerEraser(database),
    meter,
    recentLog,
    deliveries: createDeliveryStore(database),
    keys: createKeyStore(database),
    media: createMemoryMedia(pictures),
    streams: {
      probe: async (url) => {
        if (script.probe) throw script.probe;
        return { platform: 'hls', playbackUrl: url };
      },
      capture: async () => {
        const next = script.captures.shift() ?? {};
        if (next instanceof Error) throw next;
        segment += 1;
        const position = { segment: `${segment}:/${segment}.ts`, segment_seconds: 2 };
        return {
          frame: new Uint8Array([255, 216, segment % 256]),
          thumbnail: new Uint8Array(),
          capturedAt: clock.now,
          position,
          ...next,
        };
      },
      ...framePictures,
    },
    cameras: {
      discover: async () => ({
        cameras: [{ address: '192.168.1.20', name: 'Gate', hardware: null }],
        ranges: ['192.168.1.0/24'],
        outside: [],
      }),
      readStreams: async (address, login) => {
        if (login?.password !== 'pass' || address !== '192.168.1.20')
          throw new StreamFetchError(
            'Check user name and password.',
            'The camera refused the user name or password',
          );
        const profile = { name: 'main', codec: 'H264', width: 1920, height: 1080, snapshot_url: null };
        const stream_url = 'rtsp://192.168.1.20/main';
        return { profiles: [{ ...profile, stream_url }], clockOffsetSeconds: 2 };
      },
    },
    version: '1.2.3',
    allowedOrigins: [],
    turns: unlimitedTurns,
    urls: { check: () => undefined },
    webhookUrls: { check: () => undefined },
    vision: meteredVision(
      scriptedModel({
        provider: 'scripted',
        model: 'scripted',
        capabilities: { supportsVideo: true },
        judge: judgingEach(async () => {
          const next = script.verdicts.shift() ?? false;
          if (next instanceof Error) throw next;
          return {
            triggered: next,
            explanation: next ? 'It is there.' : 'It is not there.',
            tokens: { input_tokens: 10, output_tokens: 2 },
          };
        }),
        answer: async () => {
          const next = script.answers.shift() ?? {};
          if (next instanceof Error) throw next;
          return {
            answer: 'A ship.',
            triggered: null,
            tokens: { input_tokens: 10, output_tokens: 2 },
            ...next,
          };
        },
        words: async () => ({ words: [], tokens: { input_tokens: 10, output_tokens: 2 } }),
        matches: async (pictures) => ({
          matches: pictures.map(() => true),
          tokens: { input_tokens: 10, output_tokens: 2 },
        }),
        answerAbout: async () => ({ statements: [], tokens: { input_tokens: 10, output_tokens: 2 } }),
        summarize: async (samples) => {
          const next = script.summaries.shift() ?? 'Nothing happened.';
          if (next instanceof Error) throw next;
          summarized.push(samples);
          return { summary: next, tokens: { input_tokens: 100, output_tokens: 20 } };
        },
      }),
      meter,
    ),
    calls: createCallLimiter({ perMinute: 120, atOnce: 10, now: () => clock.now }),
    contactSheets: { make: async (samples) => new Uint8Array([255, 216, samples.length]) },
    summaries: { summarize: (job, closing, seconds) => summarizeWindows(job, closing, c, { seconds }) },
    compareMotion: () => ({
      moved: script.moved.shift() ?? true,
      changedShare: 0.1,
      black: script.black.shift() ?? false,
      identicalToPrevious: false,
      stateWithNewReference: 'looked',
      stateWithSameReference: 'skipped',
      earlier: script.earlier.shift() ?? [],
    }),
    pace: freePace,
    executions: {
      start: async (input) => {
        if (executions.has(toName(input))) return 'already';
        executions.set(toName(input), 'running');
        return 'started';
      },
      stop: async (input) => void executions.set(toName(input), 'aborted'),
      status: async (input) => executions.get(toName(input)),
      runsHere: () => false,
    },
    queue: {
      send: async (message) => {
        if (!('run' in message)) return;
        (message.run === 'job' ? queued : queuedForDestinations).push(message);
      },
    },
    signer,
    log: redactedLog(teeLog(output, recentLog)),
    limits: {
      jobsPerCaller: 10,
      watchesPerCaller: 25,
      maxJobSeconds: 600,
      retentionSeconds: 3600,
      modelGraceSeconds: 0,
      captureTimeoutSeconds: 30,
      visionTimeoutSeconds: 90,
      ...limits,
    },
    acceptsHost: isLoopback,
    bodies: createRequestBodies({ setTimer: setSystemTimer }),
    eventStreams: {
      sessions: createEventSessions(10),
      // Only a waiting stream advances the clock, so that a test controls time by reading.
      signals: pollingSignals(async (milliseconds) => {
        clock.now = new Date(clock.now.getTime() + milliseconds);
        await new Promise((resolve) => setImmediate(resolve));
      }, 250),
      retryMilliseconds: 2000,
      heartbeatSeconds: 15,
      sessionSeconds: null,
    },
    baseUrl: 'http://watchpost.test/api',
    now,
    steadyNow: now,
    newId: () => randomUUID(),
    // Wake-ups are then whole intervals after the start.
    streamPhase: () => null,
    random: () => 0.5,
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
    randomBytes: (length) => randomBytes(length),
  };

  c.runs = publishCommits(runs, c);
  c.jobs = jobRuns(c.runs, storedJobs);
  c.watches = watchRuns(c.runs, watches);
  const { jobs } = c;

  return {
    c,
    database,
    jobs,
    script,
    clock,
    queued,
    queuedForDestinations,
    sent,
    http,
    pictures,
    executions,
    logged,
    /** Samples of each summary request. */
    summarized,
    advance: (seconds: number) => {
      clock.now = new Date(clock.now.getTime() + seconds * 1000);
    },
    /** Moves the wall clock forward or back without passing time. */
    stepClock: (seconds: number) => {
      stepped += seconds * 1000;
      clock.now = new Date(clock.now.getTime() + seconds * 1000);
    },
    /** Runs the workflow step by step: Begin, then Capture and Analyze at each wake-up. */
    begin: (input: ExecutionInput) => analyze({ ...input, operation: 'begin' }),
    /** Runs all ticks of a job, through its generations. */
    runToEnd: async (step: WorkflowState) => {
      let next = step;
      for (;;) {
        while (!next.done) next = await tick(next);
        const job = await jobs.get(step.run_id, clock.now);
        if (job?.status !== 'running') return;
        next = await analyze({ operation: 'begin', run_id: job.run_id, generation: job.generation });
      }
    },
    tick,
  };

  async function tick(step: WorkflowState): Promise<WorkflowState> {
    // A wait keeps its duration if the clock moves back; if it moves forward, the wait ends early.
    const setBack = Math.min(0, stepped - (steppedBefore.get(step) ?? stepped));
    clock.now = new Date(Math.max(clock.now.getTime(), Date.parse(step.wait_until) + setBack));
    const taken = await captureTask(step.capture, c);
    return analyze({
      operation: 'analyze',
      run_id: step.run_id,
      generation: step.generation,
      capture: step.capture,
      captured: taken,
    });
  }

  async function analyze(input: object): Promise<WorkflowState> {
    const answer = await analyzeTask(input, c);
    if (!('capture' in answer)) throw new Error('The task closed the job');
    steppedBefore.set(answer, stepped);
    return answer;
  }

  function log(message: string): void {
    logged.push(message);
  }
}

export type World = ReturnType<typeof createWorld>;

export function monitorRequest(fields: Record<string, unknown> = {}) {
  return monitorRequestSchema.parse({
    stream_url: 'https://example.com/live.m3u8',
    condition: 'a ship enters the lock',
    ...fields,
  });
}

export function digestRequest(fields: Record<string, unknown> = {}) {
  return digestRequestSchema.parse({ stream_url: 'https://example.com/live.m3u8', ...fields });
}

function toName({ run_id: jobId, generation }: ExecutionInput): string {
  return `${jobId}-${generation}`;
}
