import { eventPools } from './limit-event-sessions.ts';
import { z } from 'zod';

const count = z.string().regex(/^\d+$/, 'must be a whole number').transform(Number);
const name = z.string().min(1);
/** Comma-separated values. */
const list = z.string().transform((text) => text.split(',').flatMap((value) => value.trim() || []));

const priceSchema = z.object({
  input: z.number(),
  output: z.number(),
  pictureTokens: z.number(),
  videoTokensPerSecond: z.number().nullable(),
});
const deployedModelSchema = z.object({
  provider: z.string(),
  model: z.string(),
  supportsVideo: z.boolean(),
  judgesMoments: z.boolean(),
  maxPictures: z.int().positive(),
  /** `null` if unknown. */
  price: priceSchema.nullable(),
});
/** Model that the stack describes to functions that do not call it: they bundle no provider. */
export type DeployedModel = z.output<typeof deployedModelSchema>;

function parseJson(text: string, context: z.RefinementCtx): unknown {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'must be JSON' });
    return z.NEVER;
  }
}

/**
 * Settings of the functions, by the names of their environment variables. The configuration of a function picks those
 * that it reads; the stack sets exactly these.
 */
export const functionSettings = z.object({
  LOG_LEVEL: z.enum(['debug', 'info', 'warning', 'error']).prefault('info'),
  /** Stack name, which identifies logs, metrics and traces. Powertools reads it too. */
  POWERTOOLS_SERVICE_NAME: name,

  TABLE_NAME: name,
  MEDIA_BUCKET: name,
  /** URL of the delivery queue. */
  QUEUE_URL: z.url(),
  /** Name or ARN of the event bus that receives each event. Default: none. */
  EVENT_BUS: name.optional(),
  /** State machine of new executions. */
  STATE_MACHINE_ARN: name,
  /** State machine of executions that were started in the other mode (`burstSeconds`). */
  OTHER_STATE_MACHINE_ARN: name.optional(),
  CAPTURE_FUNCTION: name,
  ANALYZE_FUNCTION: name,
  /** ARN of the master secret (32 bytes in base64), from which webhook secrets are derived. */
  MASTER_SECRET_ARN: name,
  /** ARN of the secret that CloudFront adds to each request. */
  ORIGIN_SECRET_ARN: name,
  /** ARN of a secret with accounts and proxies for platforms (`createPlatformSecret`). */
  PLATFORM_SECRET_ARN: name.optional(),
  /** Log group of all functions. */
  LOG_GROUP: name,
  /** Name prefix of the alarms of this stack. */
  ALARM_PREFIX: name,

  /** Model of `analyze`, as JSON (`DeployedModel`). */
  MODEL: z.string().transform(parseJson).pipe(deployedModelSchema),

  /** Path of ffmpeg. Default: that of the layer. */
  FFMPEG_PATH: name.prefault('/opt/bin/ffmpeg'),
  /** Comma-separated YouTube clients, by their names in youtubei.js: which work changes. */
  YOUTUBE_CLIENTS: z
    .string()
    .regex(/^[A-Z_]+(,[A-Z_]+)*$/, 'must be names such as VISIONOS,WEB')
    .transform((text) => text.split(','))
    .optional(),
  /** Private ranges that streams may use. Default: none; for tests. */
  ALLOW_RANGES: list.prefault(''),
  /** Private ranges that webhooks may use. Default: none; for tests. */
  ALLOW_WEBHOOK_RANGES: list.prefault(''),

  /** Ranges of the function's own network, which no range opens. Default: none. */
  DENY_RANGES: list.prefault(''),

  /** ARN of a secret with the SMTP server as a URL. Default: no e-mail. */
  SMTP_SECRET_ARN: name.optional(),
  /** Sender of e-mail. */
  EMAIL_FROM: name.optional(),
  /** Addresses and domains that e-mail may go to. */
  EMAIL_RECIPIENTS: list.prefault(''),
  /** Origins of pages that may call the API from a browser. Default: none. */
  ALLOWED_ORIGINS: list.prefault(''),

  /** Public base URL, `https://HOST/api`. Default: the host of the viewer's request. */
  BASE_URL: z.url().optional(),
  /** Maximum duration of a job, in seconds. */
  MAX_JOB_SECONDS: count.prefault('600'),
  /** Maximum concurrent jobs per caller. */
  JOBS_PER_CALLER: count.prefault('10'),
  /** Maximum watches per caller. */
  WATCHES_PER_CALLER: count.prefault('25'),
  /** Default of `memory_days` of a watch. */
  MEMORY_DAYS: count.prefault('0'),
  /** Default of `evidence_clip` of a watch: its seconds before and after; 0 for none. */
  CLIP_SECONDS: count.prefault('0'),
  /** Retention of an ended job, in seconds. */
  RETENTION_SECONDS: count.prefault('3600'),
  /** Time without an answer of the model after which a monitor fails, in seconds. */
  MODEL_GRACE_SECONDS: count.prefault('300'),
  /** Rate limit of synchronous endpoints per caller and minute; 0 disables it. */
  SYNC_PER_MINUTE: count.prefault('120'),
  /** Concurrency limit of synchronous endpoints per caller; 0 disables it. */
  SYNC_AT_ONCE: count.prefault('10'),
  /** Maximum concurrent event streams per caller. */
  EVENT_STREAMS_PER_CALLER: count.prefault('10'),
  /** Maximum concurrent event streams of all callers. */
  EVENT_STREAMS: count.prefault('200'),
  /** Pool of their permits: creations that stream have one of their own, below the executions of their function. */
  EVENT_POOL: z.enum(eventPools).prefault('all'),
  /** Maximum callers with metrics of their own; 0 for none. */
  CALLER_METRICS: count.prefault('10'),
  /** Maximum duration of an event-stream session, in seconds: 14 minutes, less than the 15 of the function. */
  EVENT_STREAM_SECONDS: count.prefault('840'),
  /** Seconds between heartbeats on an idle event stream. CloudFront closes a connection after 60 s without data. */
  HEARTBEAT_SECONDS: count.prefault('15'),
});

/** Settings of every function. */
export const sharedSettings = { LOG_LEVEL: true, POWERTOOLS_SERVICE_NAME: true } as const;

/** Settings of the functions that send e-mail. */
export const mailSettings = { SMTP_SECRET_ARN: true, EMAIL_FROM: true, EMAIL_RECIPIENTS: true } as const;

/** Settings of the functions that serve HTTP. They invoke other functions to call the model and to fetch streams. */
export const httpSettings = {
  ...sharedSettings,
  TABLE_NAME: true,
  MEDIA_BUCKET: true,
  QUEUE_URL: true,
  EVENT_BUS: true,
  STATE_MACHINE_ARN: true,
  OTHER_STATE_MACHINE_ARN: true,
  CAPTURE_FUNCTION: true,
  ANALYZE_FUNCTION: true,
  MASTER_SECRET_ARN: true,
  ORIGIN_SECRET_ARN: true,
  LOG_GROUP: true,
  ALARM_PREFIX: true,
  MODEL: true,
  BASE_URL: true,
  ALLOW_RANGES: true,
  ALLOW_WEBHOOK_RANGES: true,
  DENY_RANGES: true,
  ALLOWED_ORIGINS: true,
  ...mailSettings,
  MAX_JOB_SECONDS: true,
  JOBS_PER_CALLER: true,
  WATCHES_PER_CALLER: true,
  MEMORY_DAYS: true,
  CLIP_SECONDS: true,
  RETENTION_SECONDS: true,
  MODEL_GRACE_SECONDS: true,
  SYNC_PER_MINUTE: true,
  SYNC_AT_ONCE: true,
} as const;
