import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { z } from 'zod';
import { freePace } from '../../../core/ports/pace.ts';
import { unlimitedTurns } from '../../../core/ports/stream-capturer.ts';
import { createCallerUsage } from '../../caller-usage.ts';
import { createDestinations } from '../../destinations/destination-sender.ts';
import { createEgressGuard, createWebhookGuard } from '../../egress/guard.ts';
import { setSystemTimer } from '../../../core/time-limit.ts';
import { publishCommits, publishCreations } from '../../../core/delivery/publish.ts';
import type { HttpDeps } from '../../http/dependencies.ts';
import { createRequestBodies } from '../../http/request-bodies.ts';
import { createHttpSender } from '../../destinations/http-sender.ts';
import { clientSettings } from '../client-settings.ts';
import {
  deferAlarms,
  deferDeliveryQueue,
  deferExecutions,
  deferInvoke,
  deferMediaStore,
  deferRecentLog,
  deferWebhookHttp,
} from '../deferred.ts';
import type { functionSettings, httpSettings, sharedSettings } from '../function-settings.ts';
import { createLookup } from '../lookup.ts';
import { dynamoStores, type DynamoStores } from '../dynamodb/stores.ts';
import { createMachine } from '../../machine.ts';
import { createRemoteCapturer } from '../invoke/remote-capture.ts';
import { createRemoteModel, createRemoteSummarizer } from '../invoke/remote-model.ts';
import { limitEventSessions } from '../limit-event-sessions.ts';
import { createSecret, type Secret } from '../secret.ts';
import { createMail } from '../mail.ts';
import { createStoredLinkSigner, createStoredSigner } from '../stored-signer.ts';
import { instrumentMeter, instrumentRuns } from '../telemetry/instrument.ts';
import { type Telemetry, softwareVersion } from '../telemetry/telemetry.ts';
import { rules } from '../../../core/rules.ts';

/** Timeouts of the calls that an endpoint may wait for on AWS, in seconds. */
export const callSeconds = {
  /** `capture`: request of a stream. */
  probe: 20,
  capture: 20,
  /** `analyze`: model call. */
  model: 18,
  /** Attempt of a webhook (`createHttpSender`). */
  webhook: 30,
  /** Part of a search in moments (`core/memory/search-moments.ts`). */
  search: 25,
  /** Last summary of a cancelled digest. */
  summary: rules.cancelSummaryTimeoutSeconds,
} as const;

/**
 * Calls that each endpoint makes in sequence in the worst case. An endpoint that is absent reads and writes the table
 * only. A test requires an entry of each endpoint that reaches other machines, and holds its time budget, which chooses
 * the origin, to the sum.
 */
export const endpointCalls: Readonly<Record<string, readonly (keyof typeof callSeconds)[]>> = {
  check_once: ['probe', 'capture', 'model'],
  analyze_frame: ['model'],
  validate_stream: ['probe', 'capture'],
  live_monitor: ['probe'],
  live_digest: ['probe'],
  run_again: ['probe'],
  create_watch: ['probe'],
  preview_watch: ['capture', 'model'],
  preview_new_watch: ['probe', 'capture', 'model'],
  test_watch: ['webhook'],
  test_webhook: ['webhook'],
  search_moments: ['search'],
  ask_moments: ['search'],
  backtest_watch: ['search'],
  cancel_job: ['summary'],
  // Refused on AWS.
  list_cameras: [],
  camera_streams: [],
};

/** Settings that `api` and `stream` share, and the one of `stream` that the stores need. */
export type HttpSettings = Omit<
  Pick<z.output<typeof functionSettings>, keyof typeof httpSettings>,
  'BASE_URL' | keyof typeof sharedSettings
> & { EVENT_STREAMS_PER_CALLER?: number; EVENT_STREAMS?: number; EVENT_POOL?: 'all' | 'creations' };

/** Dependencies that `api` and `stream` share. */
export type SharedHttpDeps = {
  /** Returns the dependencies without those that differ by function, for a deployment with these hosts. */
  depsFor: (ownHosts: readonly string[]) => Omit<HttpDeps, 'eventStreams' | 'baseUrl'>;
  sessions: DynamoStores['sessions'];
  originSecret: Secret;
};

/** Precision of wake-ups: a Step Functions Wait truncates milliseconds. */
const wakeUpStepMs = 1000;

/** Timeouts of calls without a job (`time-budgets.ts`): their sums are below CloudFront's origin timeout. */
const { capture: captureTimeoutSeconds, model: visionTimeoutSeconds } = callSeconds;

/** Collaborators that are the same for every stage. */
const machine = {
  // Lambda's concurrency bounds the function `capture`, `reservedConcurrency` where it is set.
  turns: unlimitedTurns,
  pace: freePace,
  // CloudFront answers for the hosts of its distribution alone.
  acceptsHost: () => true,
  version: softwareVersion,
  ...createMachine(wakeUpStepMs),
};
const { now } = machine;
const lookup = createLookup();

type ReadSecret = (arn: string) => Secret;

/** Creates the shared dependencies. Sends no request. */
export function createSharedHttpDeps(settings: HttpSettings, telemetry: Telemetry): SharedHttpDeps {
  const { log } = telemetry;
  const secrets = new SecretsManagerClient(clientSettings);
  const secret = (arn: string) => createSecret({ client: secrets, arn, now });
  const { price: modelPrice, ...model } = settings.MODEL;
  const { sessions, ledger, ...ports } = createPorts(settings, telemetry);
  const { CLIP_SECONDS: clip } = settings;
  const capture = deferInvoke(settings.CAPTURE_FUNCTION);
  const analyze = deferInvoke(settings.ANALYZE_FUNCTION);
  const deps: Omit<HttpDeps, 'eventStreams' | 'baseUrl' | keyof UrlGuards> = {
    ...machine,
    ...ports,
    ...createSenders(settings, ports.callers, { secret, log }),
    modelPrice,
    usage: createCallerUsage({ ledger, modelPrice, log, now }),
    media: deferMediaStore({ bucket: settings.MEDIA_BUCKET }),
    streams: createRemoteCapturer({ invoke: capture, seconds: captureTimeoutSeconds }),
    vision: createRemoteModel({ invoke: analyze, seconds: visionTimeoutSeconds, model }),
    summaries: createRemoteSummarizer(analyze),
    executions: deferExecutions({
      stateMachineArn: settings.STATE_MACHINE_ARN,
      otherStateMachineArn: settings.OTHER_STATE_MACHINE_ARN,
    }),
    recentLog: deferRecentLog({ logGroup: settings.LOG_GROUP, now }),
    allowedOrigins: settings.ALLOWED_ORIGINS,
    bodies: createRequestBodies({ setTimer: setSystemTimer }),
    alarms: deferAlarms({ prefix: settings.ALARM_PREFIX }),
    log,
    limits: {
      jobsPerCaller: settings.JOBS_PER_CALLER,
      watchesPerCaller: settings.WATCHES_PER_CALLER,
      memoryDays: settings.MEMORY_DAYS,
      evidenceClip: clip > 0 ? { before_seconds: clip, after_seconds: clip } : null,
      maxJobSeconds: settings.MAX_JOB_SECONDS,
      retentionSeconds: settings.RETENTION_SECONDS,
      modelGraceSeconds: settings.MODEL_GRACE_SECONDS,
      captureTimeoutSeconds,
      visionTimeoutSeconds,
    },
  };
  return {
    depsFor: (ownHosts) => ({ ...deps, ...createUrlGuards(settings, ownHosts) }),
    sessions,
    originSecret: secret(settings.ORIGIN_SECRET_ARN),
  };
}

type UrlGuards = Pick<HttpDeps, 'urls' | 'webhookUrls'>;

/**
 * Creates the guards of the URLs that callers give. Connections are those of `capture` and of the senders, whose
 * origins answer to CloudFront alone.
 */
function createUrlGuards(settings: HttpSettings, ownHosts: readonly string[]): UrlGuards {
  const denyRanges = settings.DENY_RANGES;
  return {
    urls: createEgressGuard({
      allowRanges: settings.ALLOW_RANGES,
      setting: 'stage setting allowRanges',
      ownHosts,
      denyRanges,
    }),
    webhookUrls: createWebhookGuard(settings.ALLOW_WEBHOOK_RANGES, webhookSetting, { ownHosts, denyRanges }),
  };
}

const webhookSetting = 'stage setting allowWebhookRanges';

/** Creates what reads and writes the table, and the queue of its events. */
function createPorts(settings: HttpSettings, { log, measurements }: Telemetry) {
  const hasBus = settings.EVENT_BUS !== undefined;
  const stores = dynamoStores({
    client: new DynamoDBClient(clientSettings),
    tableName: settings.TABLE_NAME,
    now,
    hasBus,
    retentionSeconds: settings.RETENTION_SECONDS,
    callLimits: { perMinute: settings.SYNC_PER_MINUTE, atOnce: settings.SYNC_AT_ONCE },
    ...(settings.EVENT_STREAMS_PER_CALLER !== undefined && {
      eventSessionsPerCaller: settings.EVENT_STREAMS_PER_CALLER,
    }),
  });
  const { deliveries, sessions } = stores;
  const queue = deferDeliveryQueue({ queueUrl: settings.QUEUE_URL, hasBus });
  const publishing = { queue, deliveries, log, now };
  return {
    runs: publishCommits(instrumentRuns(stores.runs, measurements), publishing),
    jobs: stores.jobs,
    moments: stores.moments,
    watches: publishCreations(stores.watches, stores.runs, publishing),
    callers: stores.callers,
    eraser: stores.eraser,
    keys: stores.keys,
    deliveries,
    meter: instrumentMeter(stores.meter, measurements),
    calls: stores.limiter,
    queue,
    ledger: stores.usage,
    sessions:
      settings.EVENT_STREAMS === undefined
        ? sessions
        : limitEventSessions({
            sessions,
            withLimit: stores.sessionsWithLimit,
            max: settings.EVENT_STREAMS,
            pool: settings.EVENT_POOL ?? 'all',
            measurements,
            random: Math.random,
          }),
  };
}

/** Creates what sends to receivers and destinations. */
function createSenders(
  settings: HttpSettings,
  callers: DynamoStores['callers'],
  { secret, log }: { secret: ReadSecret; log: Telemetry['log'] },
) {
  const masterSecret = secret(settings.MASTER_SECRET_ARN);
  const mail = createMail(settings, { secret, log });
  const signer = createStoredSigner({ masterSecret, callers, now });
  const webhooks = createHttpSender({
    http: deferWebhookHttp(
      createWebhookGuard(settings.ALLOW_WEBHOOK_RANGES, webhookSetting, {
        lookup,
        denyRanges: settings.DENY_RANGES,
      }),
    ),
    version: softwareVersion,
    elapsedMs: () => performance.now(),
  });
  return {
    signer,
    destinations: createDestinations({ http: webhooks, signer, now, ...(mail && { mail }) }),
    evidenceLinks: { signer: createStoredLinkSigner(masterSecret) },
  };
}
