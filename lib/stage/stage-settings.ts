import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { z } from 'zod';

/**
 * The settings of a stage: one deployment of the service in an account. Each has a default, so that an empty file is a deployment;
 * `docs/settings.md` lists them. Unknown names are errors, since a misspelt setting would be a default in disguise.
 */
export const stageSettingsSchema = z
  .strictObject({
    /** Where the stack lives. Without one the region of the deployer's AWS profile. */
    region: z
      .string()
      .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region such as eu-central-1')
      .optional(),
    architecture: z.enum(['arm64', 'x86_64']).default('arm64'),

    /** A model's id or an inference profile's id; without one the cheapest model that takes video. */
    modelId: z
      .string()
      .regex(/^[\w.:-]+$/, 'must be the id of a model or of an inference profile, not an ARN')
      .optional(),
    /** Where the model is asked, if not where the stack lives. */
    bedrockRegion: z.string().optional(),
    /** Instead of Bedrock's own address, for tests. */
    bedrockEndpoint: z.url().optional(),

    maxJobSeconds: wholeNumber(5, 86_400).default(600),
    jobsPerCaller: wholeNumber(1, 1000).default(10),
    /** How long a finished job can be read. */
    retentionSeconds: wholeNumber(60, 86_400).default(3600),
    /** Of the endpoints that are answered at once; 0 is no limit. */
    syncPerMinute: wholeNumber(0, 100_000).default(120),
    syncAtOnce: wholeNumber(0, 10_000).default(10),
    eventStreamsPerCaller: wholeNumber(1, 1000).default(10),
    /** Private ranges that streams may use; none but in tests. */
    allowRanges: z.array(z.cidrv4().or(z.cidrv6())).default([]),
    /** Private ranges that webhooks may use, likewise. */
    allowWebhookRanges: z.array(z.cidrv4().or(z.cidrv6())).default([]),

    /** Applications to ask YouTube as, in this order, by their names in youtubei.js: which are let in changes. Without: `publicPlatforms`. */
    youtubeClients: z
      .array(z.string().regex(/^[A-Z_]+$/, 'must be names such as VISIONOS'))
      .min(1)
      .optional(),
    /** A secret of yours with accounts and proxies for YouTube and Twitch, which `capture` may then read: docs/platforms.md has its form and its risk. */
    platformSecretArn: z
      .string()
      .regex(/^arn:aws[\w-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]+-[A-Za-z0-9]{6}$/, {
        error: 'must be the whole ARN of a secret, with the six characters at its end',
      })
      .optional(),

    /** Requests a second that the HTTP API takes from all callers together, and how many at once. */
    apiRequestsPerSecond: wholeNumber(1, 10_000).default(100),
    apiBurst: wholeNumber(1, 10_000).default(200),
    /** Of each function; none by default, since a new account has ten executions at once in all. */
    reservedConcurrency: z
      .partialRecord(
        z.enum(['api', 'stream', 'capture', 'analyze', 'deliver', 'reconcile']),
        wholeNumber(0, 10_000),
      )
      .default({}),
    /** How many webhooks are sent at once; without one as many as Lambda gives. */
    deliveriesAtOnce: wholeNumber(2, 1000).optional(),

    /** Gets the alarms; its owner confirms by a link. Without one the topic has no reader until somebody subscribes. */
    alarmEmail: z.email().optional(),
    /** How the runbook is linked from alarms: the address of the page in your copy of the repository. */
    runbookUrl: z.string().default('docs/runbook.md'),
    /** Jobs that fail within a quarter of an hour before somebody is told. */
    failedJobsAlarm: wholeNumber(1, 100_000).default(5),
    logDays: z.enum(RetentionDays).default(RetentionDays.ONE_MONTH),
    logLevel: z.enum(['debug', 'info', 'warning', 'error']).default('info'),
    /** Access logs of CloudFront and S3, in a bucket of their own, for `logDays`. */
    accessLogs: z.boolean().default(true),

    /** A host of your own, with a certificate for it that is in us-east-1. */
    domain: z
      .strictObject({
        name: z.hostname(),
        certificateArn: z.string().regex(/^arn:aws[\w-]*:acm:us-east-1:\d{12}:certificate\/[\w-]+$/, {
          error: 'must be the ARN of a certificate in us-east-1, where CloudFront looks for it',
        }),
      })
      .optional(),
    /** A web ACL of WAF (scope CLOUDFRONT). */
    webAclArn: z
      .string()
      .regex(/^arn:aws[\w-]*:wafv2:us-east-1:\d{12}:global\/webacl\//, {
        error: 'must be the ARN of a web ACL of scope CLOUDFRONT',
      })
      .optional(),
    /** Requests of one address in five minutes, at the edge; beyond it 429. Makes a web ACL, which only a stack in us-east-1 can. */
    requestsPerAddress: wholeNumber(10, 2_000_000_000).optional(),
    /** The version of the origin secret that CloudFront sends; see the rotation in docs/operations.md. */
    originSecretVersion: z.string().optional(),

    pointInTimeRecovery: z.boolean().default(true),
    deletionProtection: z.boolean().default(true),
    /** What a deleted stack leaves behind: table, pictures, access logs. False empties and deletes them with it. */
    keepData: z.boolean().default(true),
    /** The web console, by a custom resource that copies it to its bucket. */
    console: z.boolean().default(true),
    /** An ffmpeg that is there without our layer, for tests. */
    ffmpegPath: z.string().optional(),
  })
  .refine(
    ({ webAclArn, requestsPerAddress }) => webAclArn === undefined || requestsPerAddress === undefined,
    {
      error: 'requestsPerAddress makes a web ACL: leave webAclArn out, or add the rule to that one',
    },
  );

export type StageSettings = z.output<typeof stageSettingsSchema>;
export type StageSettingsInput = z.input<typeof stageSettingsSchema>;

function wholeNumber(minimum: number, maximum: number) {
  return z.int().min(minimum).max(maximum);
}
