import { Token } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { z } from 'zod';
import { isOrigin } from '../../adapters/http/cors.ts';
import {
  defaultVisionProvider,
  visionProviderSchema,
  visionStageSettings,
} from '../../adapters/vision/aws-provider-registry.ts';
import { promptNames } from '../../adapters/vision/prompt-variants.ts';
import { capturedWidthPixels, minPictureWidthPixels } from '../../adapters/vision/picture-width.ts';
import { maxMemoryDays } from '../../core/records/moment.ts';
import { rules } from '../../core/rules.ts';

/** Value of `eventBus` with which the stack creates the bus. */
export const newEventBus = 'new-bus';

const secretArn = deployed(
  /^arn:aws[\w-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]+-[A-Za-z0-9]{6}$/,
  'must be the whole ARN of a secret, with the six characters at its end',
);
const subnetIds = z.array(deployed(/^subnet-[0-9a-f]+$/, 'must be ids such as subnet-0a1b2c3d')).min(1);
const vpcId = deployed(/^vpc-[0-9a-f]+$/, 'must be an id such as vpc-0a1b2c3d');
const range = z.cidrv4().or(z.cidrv6()).or(z.string().refine(Token.isUnresolved));

/**
 * Schema of the settings of a stage. Each has a default, so that an empty file is a valid stage.
 * `docs/operate/configuration.md` lists them. Rejects unknown names, because a misspelled setting would silently use
 * its default.
 */
export const stageSettingsSchema = z
  .strictObject({
    /** AWS region of the stack. Default: the region of the deployer's AWS profile. */
    region: z
      .string()
      .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region such as eu-central-1')
      .optional(),
    /** Account of the stack: the CDK refuses credentials of another one. Default: that of the credentials. */
    account: z
      .string()
      .regex(/^\d{12}$/, 'must be the 12 digits of an account')
      .optional(),
    architecture: z.enum(['arm64', 'x86_64']).default('arm64'),

    /** Provider of the model. */
    visionProvider: visionProviderSchema.default(defaultVisionProvider),
    /**
     * Id of a model or inference profile of the provider, or ARN of an application inference profile of Bedrock.
     * Default: the cheapest model that supports video.
     */
    modelId: z
      .string()
      .regex(
        /^(?!arn:)[\w.:-]+$|^arn:aws[\w-]*:bedrock:[a-z0-9-]+:\d{12}:application-inference-profile\/[a-z0-9]+$/,
        'must be the id of a model or of an inference profile, or the ARN of an application inference profile',
      )
      .optional(),
    /** Prompt of checks (`adapters/vision/prompt-variants.ts`). */
    visionPrompt: z.enum(promptNames).default('verdict-first'),
    /** Maximum width of the frames that the model receives for checks, in pixels. Evidence keeps its width. */
    visionWidth: wholeNumber(minPictureWidthPixels, capturedWidthPixels).default(capturedWidthPixels),
    ...visionStageSettings,

    /** Maximum duration of a job, in seconds. */
    maxJobSeconds: wholeNumber(5, rules.maxJobDurationSeconds).default(600),
    /** Maximum concurrent jobs per caller. */
    jobsPerCaller: wholeNumber(1, 1000).default(10),
    // A position in their logs fits a URL of CloudFront (`watch-feed.ts`).
    watchesPerCaller: wholeNumber(0, 250).default(25),
    /** Default of `memory_days` of a watch: days for which judged pictures are kept. */
    memoryDays: wholeNumber(0, maxMemoryDays).default(0),
    /** Default of `evidence_clip` of a watch: seconds before and after an opening that its clip shows; 0 for none. */
    clipSeconds: wholeNumber(0, 30).default(0),
    /** Retention of an ended job, in seconds. */
    retentionSeconds: wholeNumber(60, rules.maxRetentionSeconds).default(3600),
    /** Time without an answer of the model after which a monitor fails, in seconds. */
    modelGraceSeconds: wholeNumber(0, 86_400).default(rules.modelGraceSeconds),
    /** Rate limit of endpoints that reach streams, the model or receivers, per caller and minute; 0 disables it. */
    syncPerMinute: wholeNumber(0, 100_000).default(120),
    /** Concurrency limit of synchronous endpoints per caller; 0 disables it. */
    syncAtOnce: wholeNumber(0, 10_000).default(10),
    /** Maximum concurrent event streams per caller. */
    eventStreamsPerCaller: wholeNumber(1, 1000).default(10),
    /** Maximum concurrent event streams of all callers together; each is an execution of `events`. */
    eventStreams: wholeNumber(1, 10_000).default(200),
    /**
     * Time from the start of a burst after which it begins no tick, in seconds. 0 runs all ticks in Standard
     * executions, which cost four state transitions each.
     */
    burstSeconds: wholeNumber(0, rules.maxBurstSeconds).default(rules.maxBurstSeconds),
    /**
     * ARN of a secret with the SMTP server of e-mail destinations, as the URL smtps://user:password@host:465. Default:
     * no e-mail.
     */
    smtpSecretArn: secretArn.optional(),
    /** Sender of e-mail, required with an SMTP server. */
    emailFrom: z.email().optional(),
    /** Addresses, or domains such as `@example.com`, that e-mail may go to. */
    emailRecipients: z
      .array(z.string().regex(/^[^\s,@]*@[^\s,@]+$/, 'must be addresses, or domains such as @example.com'))
      .default([]),

    /** Private address ranges that streams may use, as CIDRs. Default: none; for tests. */
    allowRanges: z.array(z.cidrv4().or(z.cidrv6())).default([]),
    /** Private address ranges that webhooks may use, as CIDRs. Default: none; for tests. */
    allowWebhookRanges: z.array(z.cidrv4().or(z.cidrv6())).default([]),

    /**
     * Network of `capture` and `deliver`, whose connections then leave from stable addresses: a new VPC with a NAT
     * gateway, or private subnets of yours, with the ranges inside of it. Default: none; the addresses are those of
     * Lambda.
     */
    fixedEgress: z
      .union([z.literal('new-vpc'), z.strictObject({ vpcId, subnetIds, ranges: z.array(range).min(1) })])
      .optional(),
    /**
     * Network of yours for all functions, with the ranges inside of it that streams and webhooks may not use. Default
     * security group: one of the stack. The output `NetworkEndpoints` lists what its subnets must reach. Default: none.
     */
    network: z
      .strictObject({
        vpcId,
        subnetIds,
        securityGroupIds: z
          .array(deployed(/^sg-[0-9a-f]+$/, 'must be ids such as sg-0a1b2c3d'))
          .min(1)
          .optional(),
        ranges: z.array(range).min(1),
      })
      .optional(),

    /**
     * YouTube clients to try in this order, by their names in youtubei.js: which work changes. Default:
     * `defaultPlatformSettings`.
     */
    youtubeClients: z
      .array(z.string().regex(/^[A-Z_]+$/, 'must be names such as VISIONOS'))
      .min(1)
      .optional(),
    /**
     * ARN of a secret with accounts and proxies for YouTube and Twitch, which `capture` reads (format, risk:
     * docs/operate/configuration.md).
     */
    platformSecretArn: secretArn.optional(),

    /** Origin of event streams and slow endpoints. A REST API is for organizations that forbid public function URLs. */
    streamOrigin: z.enum(['function-url', 'rest-api']).default('function-url'),
    /** Maximum requests per second of all callers together on the HTTP API; a burst may have twice as many. */
    apiRequestsPerSecond: wholeNumber(1, 10_000).default(100),
    /** Reserved concurrency by function. Default: none, because a new account has only ten concurrent executions. */
    reservedConcurrency: z
      .partialRecord(
        z.enum(['api', 'stream', 'events', 'capture', 'analyze', 'deliver', 'reconcile']),
        wholeNumber(0, 10_000),
      )
      .default({}),
    /** Maximum concurrent webhook deliveries. Default: the concurrency of Lambda. */
    deliveriesAtOnce: wholeNumber(2, 1000).optional(),

    /**
     * Event bus of EventBridge that receives the events of all jobs and watches: `newEventBus` for one of the stack, or
     * the name or ARN of yours in the same region. Default: none.
     */
    eventBus: deployed(
      /^[\w.-]{1,256}$|^arn:aws[\w-]*:events:[a-z0-9-]+:\d{12}:event-bus\/[\w./-]{1,256}$/,
      `must be ${newEventBus}, or the name or ARN of an event bus`,
    ).optional(),

    /**
     * Email address of the alarms; its owner confirms by a link. Default: the topic of the stack has no subscription.
     */
    alarmEmail: z.email().optional(),
    /** ARN of a topic of yours that receives the alarms instead of one of the stack. */
    alarmTopicArn: deployed(
      /^arn:aws[\w-]*:sns:[a-z0-9-]+:\d{12}:[\w-]+$/,
      'must be the ARN of an SNS topic in the region of the stack',
    ).optional(),
    /** Address of the runbook in your copy of the repository, for links in alarms. */
    runbookUrl: z.string().default('docs/operate/runbook.md'),
    /** Applied quota of concurrent executions of Lambda, for the alarm `concurrency`. Default: no alarm. */
    accountConcurrency: wholeNumber(1, 10_000_000).optional(),
    /** Applied quota of the model, in tokens per minute, for the alarm `model-tokens`. Default: no alarm. */
    modelTokensPerMinute: wholeNumber(1, 1_000_000_000).optional(),
    /**
     * Maximum callers with tokens and cost in CloudWatch metrics, those with the highest cost of the day; 0 for none.
     */
    callerMetrics: wholeNumber(0, 100).default(10),
    /** Retention of logs, in days; a value that CloudWatch supports. */
    logDays: z.enum(RetentionDays).default(RetentionDays.ONE_MONTH),
    logLevel: z.enum(['debug', 'info', 'warning', 'error']).default('info'),
    /** True to store access logs of CloudFront and S3 in a bucket, for `logDays`. */
    accessLogs: z.boolean().default(true),

    /** Custom host name, with a certificate for it in us-east-1. */
    domain: z
      .strictObject({
        name: z.hostname(),
        certificateArn: deployed(
          /^arn:aws[\w-]*:acm:us-east-1:\d{12}:certificate\/[\w-]+$/,
          'must be the ARN of a certificate in us-east-1, as CloudFront requires',
        ),
      })
      .optional(),
    /** ARN of a WAF web ACL (scope CLOUDFRONT). */
    webAclArn: deployed(
      /^arn:aws[\w-]*:wafv2:us-east-1:\d{12}:global\/webacl\//,
      'must be the ARN of a web ACL of scope CLOUDFRONT',
    ).optional(),
    /** Maximum requests in five minutes per IP address, by a web ACL of the stack. Default: none. */
    requestsPerAddress: wholeNumber(10, 2_000_000_000).optional(),
    /** Origins of pages that may call the API from a browser, such as `https://app.example.com`. Default: none. */
    allowedOrigins: z
      .array(z.string().refine(isOrigin, 'must be an origin without a path, such as https://app.example.com'))
      .default([]),
    /** Version of the origin secret that CloudFront sends (rotation: docs/operate/aws.md). */
    originSecretVersion: z.string().optional(),

    /**
     * ARN of a key of KMS, in the region of the stack, for what it stores: table, media, queues, logs, executions,
     * secrets and the topic of alarms. Its policy lets the services use it (docs/operate/aws.md). Default: keys of AWS.
     */
    encryptionKeyArn: deployed(
      /^arn:aws[\w-]*:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+$/,
      'must be the ARN of a key, not of an alias',
    ).optional(),
    /** ARN of a policy that bounds the permissions of all roles. Default: none. */
    permissionsBoundaryArn: deployed(
      /^arn:aws[\w-]*:iam::(\d{12}|aws):policy\/[\w+=,.@/-]+$/,
      'must be the ARN of a policy',
    ).optional(),
    /** Tags of all resources that can have some. */
    tags: z
      .record(z.string().regex(/^(?!aws:).{1,128}$/, 'must not begin with aws:'), z.string().max(256))
      .default({}),
    /**
     * Path in Parameter Store below which each output, and the ARNs that another stack needs, are parameters. Default:
     * none.
     */
    parameterPath: z
      .string()
      .regex(/^(?!\/(aws|ssm)\b)(\/[\w.-]+)+$/i, 'must be a path such as /watchpost/prod')
      .optional(),
    /** True to protect stack and table from deletion. */
    deletionProtection: z.boolean().default(true),
    /** True to retain table, captures and access logs when the stack is deleted; false deletes them. */
    keepData: z.boolean().default(true),
    /** True to deploy the web console with a custom resource that copies its files. */
    console: z.boolean().default(true),
    /** Path of an ffmpeg outside of the layer, for tests. */
    ffmpegPath: z.string().optional(),
  })
  .refine(
    ({ webAclArn, requestsPerAddress }) => webAclArn === undefined || requestsPerAddress === undefined,
    {
      error: 'requestsPerAddress creates a web ACL: remove webAclArn, or add the rule to that web ACL',
    },
  )
  .refine(({ reservedConcurrency: { events = Infinity }, eventStreams }) => events > eventStreams, {
    error:
      'reservedConcurrency.events must be more than eventStreams: further readers and polls of events would get a 429 of AWS without the error envelope',
  })
  .refine(({ alarmEmail, alarmTopicArn }) => alarmEmail === undefined || alarmTopicArn === undefined, {
    error:
      'alarmEmail subscribes to the topic of the stack: remove alarmTopicArn, or subscribe the address to that topic',
  })
  .refine(({ network, fixedEgress }) => network === undefined || fixedEgress === undefined, {
    error:
      'network has all functions in subnets of yours, whose route gives the addresses: remove fixedEgress',
  })
  .refine(({ smtpSecretArn, emailFrom }) => (smtpSecretArn === undefined) === (emailFrom === undefined), {
    error: 'smtpSecretArn and emailFrom require each other: set both, or none',
  });

/** Settings of a stage, with defaults applied. */
export type StageSettings = z.output<typeof stageSettingsSchema>;
/** Settings of a stage as a file contains them. */
export type StageSettingsInput = z.input<typeof stageSettingsSchema>;

/** Schema of an ARN or id, which the deployment may know first: that of a resource of the same app. */
function deployed(pattern: RegExp, error: string) {
  return z.string().refine((text) => Token.isUnresolved(text) || pattern.test(text), error);
}

function wholeNumber(minimum: number, maximum: number) {
  return z.int().min(minimum).max(maximum);
}
