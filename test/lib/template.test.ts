import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { ttlAttribute } from '../../adapters/aws/dynamodb/table/table-layout.ts';
import { originHostsHeader, originSecretHeader } from '../../adapters/aws/http/origins.ts';
import { backoffSeconds } from '../../functions/deliver/handler.ts';
import { metricNamespace as emittedNamespace } from '../../adapters/aws/telemetry/telemetry.ts';
import { metricUnits } from '../../core/ports/observability.ts';
import { analyzeConfigSchema } from '../../functions/analyze/config.ts';
import { apiConfigSchema } from '../../functions/api/config.ts';
import { captureConfigSchema } from '../../functions/capture/config.ts';
import { deliverConfigSchema } from '../../functions/deliver/config.ts';
import { reconcileConfigSchema } from '../../functions/reconcile/config.ts';
import { streamConfigSchema } from '../../functions/stream/config.ts';
import { metricNamespace } from '../../lib/operations/alarms/service-metrics.ts';
import { streamPaths } from '../../lib/edge/edge.ts';
import runDefinition from '../../lib/workflow/run.asl.json' with { type: 'json' };
import { awsMetrics } from './aws-metrics.ts';
import { ofType, one, ownFunctions, synthesize } from './synthesize.ts';

const synthesized = synthesize({
  alarmEmail: 'operator@example.com',
  accountConcurrency: 1000,
  modelTokensPerMinute: 400_000,
  eventBus: 'new-bus',
});
const { template } = synthesized;
const functions = ownFunctions(synthesized);
const runbook = readFileSync(new URL('../../docs/operate/runbook.md', import.meta.url), 'utf8');

describe('WebhookDelivery', () => {
  const queue = one(synthesized, 'AWS::SQS::Queue', 'DeliveriesQueue');

  test('the delivery queue orders messages by job, and its dead-letter queue retains them for 14 days', () => {
    expect(queue).toMatchObject({ FifoQueue: true, DeduplicationScope: 'messageGroup' });
    const faults = Array.from({ length: queue.RedrivePolicy.maxReceiveCount }, (_, time) =>
      backoffSeconds(time + 1),
    );
    expect(faults.reduce((sum, seconds) => sum + seconds, 0)).toBeGreaterThan(3600);
    expect(one(synthesized, 'AWS::SQS::Queue', 'DeliveriesDeadLetters')).toMatchObject({
      FifoQueue: true,
      MessageRetentionPeriod: 14 * 24 * 3600,
    });
  });

  test('the visibility timeout exceeds the timeout of the deliver function', () => {
    expect(queue.VisibilityTimeout).toBeGreaterThan(functions['deliver'].Timeout);
  });

  test('the deliver function receives one message at a time and reports batch item failures', () => {
    const [[, source]] = ofType(synthesized, 'AWS::Lambda::EventSourceMapping') as any;
    expect(source.Properties).toMatchObject({
      BatchSize: 1,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
  });
});

describe('ServiceFunction', () => {
  const schemas: Record<string, z.ZodObject> = {
    analyze: analyzeConfigSchema,
    api: apiConfigSchema,
    capture: captureConfigSchema,
    deliver: deliverConfigSchema,
    reconcile: reconcileConfigSchema,
    stream: streamConfigSchema,
    events: streamConfigSchema,
  };

  test.for(Object.entries(schemas))(
    'the function %s has exactly the environment variables of its schema',
    ([name, schema]) => {
      const given = resolveReferences(functions[name].Environment.Variables);
      expect(schema.strict().safeParse(given).error?.issues).toBeUndefined();
    },
  );

  test('all functions run on Node 24 and arm64 with one log group', () => {
    for (const name of Object.keys(schemas))
      expect(functions[name]).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        LoggingConfig: { LogFormat: 'JSON', LogGroup: { Ref: expect.stringMatching(/^LogFunctions/) } },
      });
  });

  test('each function times out before its caller: HTTP API, workflow task or Lambda', () => {
    const { States: states } = runDefinition;
    expect(functions['api'].Timeout).toBeLessThan(30);
    expect(functions['capture'].Timeout).toBeLessThan(states.Capture.TimeoutSeconds);
    expect(functions['analyze'].Timeout).toBeLessThan(states.Analyze.TimeoutSeconds);
    expect(functions['stream'].Timeout).toBeGreaterThan(
      Number(functions['stream'].Environment.Variables.EVENT_STREAM_SECONDS),
    );
  });

  test('no function reserves concurrency by default, because a new account has too little', () => {
    for (const each of Object.values(functions)) expect(each.ReservedConcurrentExecutions).toBeUndefined();
  });
});

describe('storage', () => {
  test('the table has TTL, encryption, point-in-time recovery and deletion protection', () => {
    expect(one(synthesized, 'AWS::DynamoDB::Table', 'Jobs')).toMatchObject({
      TimeToLiveSpecification: { AttributeName: ttlAttribute, Enabled: true },
      BillingMode: 'PAY_PER_REQUEST',
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      SSESpecification: { SSEEnabled: true },
    });
  });

  test('all buckets are private and require TLS', () => {
    const policies = ofType(synthesized, 'AWS::S3::BucketPolicy').map(([, each]) => each.Properties);
    for (const [id, { Properties }] of ofType(synthesized, 'AWS::S3::Bucket')) {
      expect(Object.values(Properties.PublicAccessBlockConfiguration)).toEqual([true, true, true, true]);
      const policy = policies.find(({ Bucket }) => Bucket.Ref === id);
      expect(policy.PolicyDocument.Statement).toContainEqual(
        expect.objectContaining({
          Effect: 'Deny',
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        }),
      );
    }
  });

  test('the media bucket keeps objects for as long as a job of a day can refer to them', () => {
    const { LifecycleConfiguration } = one(synthesized, 'AWS::S3::Bucket', 'Media');
    expect(LifecycleConfiguration.Rules).toContainEqual(
      expect.objectContaining({ Prefix: 'captures/', ExpirationInDays: 2, Status: 'Enabled' }),
    );
  });

  test('names of log groups contain the stack id, so that they cannot conflict with an earlier stack', () => {
    const named = ofType(synthesized, 'AWS::Logs::LogGroup').flatMap(
      ([, { Properties }]) => Properties.LogGroupName ?? [],
    );
    expect(named).toHaveLength(2);
    for (const name of named) expect(JSON.stringify(name)).toContain('AWS::StackId');
  });

  test('a first deployment that fails leaves nothing but a protected table behind, and a deleted stack its data', () => {
    for (const type of ['S3::Bucket', 'Logs::LogGroup', 'SecretsManager::Secret'])
      for (const [id, { DeletionPolicy }] of ofType(synthesized, `AWS::${type}`))
        expect(['RetainExceptOnCreate', 'Delete'], id).toContain(DeletionPolicy);
    const kept = ofType(synthesized, 'AWS::S3::Bucket').filter(
      ([, { DeletionPolicy }]) => DeletionPolicy === 'RetainExceptOnCreate',
    );
    expect(kept.length).toBeGreaterThan(1);
    expect(ofType(synthesized, 'AWS::DynamoDB::Table')[0]?.[1].DeletionPolicy).toBe('Retain');
  });

  test('every log group has a retention', () => {
    const groups = ofType(synthesized, 'AWS::Logs::LogGroup');
    expect(groups).toHaveLength(3);
    for (const [, { Properties }] of groups) expect(Properties.RetentionInDays).toBe(30);
  });
});

describe('Edge', () => {
  const { DistributionConfig: edge } = one(synthesized, 'AWS::CloudFront::Distribution', 'Edge');

  test('CloudFront sends streaming and slow paths to the function URL and the console to its bucket', () => {
    const origin = (id: string) => edge.Origins.find(({ Id }: any) => Id === id);
    const paths = edge.CacheBehaviors.map(({ PathPattern, TargetOriginId }: any) => [
      PathPattern,
      'S3OriginConfig' in origin(TargetOriginId)
        ? 'bucket'
        : JSON.stringify(origin(TargetOriginId).DomainName),
    ]);
    const stream = expect.stringContaining('"StreamFunction');
    const events = expect.stringContaining('EventsStreamFunction');
    expect(Object.fromEntries(paths)).toEqual({
      '/api/live-monitor': stream,
      '/api/live-digest': stream,
      '/api/jobs/*/events': events,
      '/api/check-once': stream,
      '/api/analyze-frame': stream,
      '/api/streams/validate': stream,
      '/api/webhook-test': stream,
      '/api/moments/ask': stream,
      '/api/moments/search': stream,
      '/api/watches/events': events,
      '/api/watches/preview': stream,
      '/api/watches/*/backtest': stream,
      '/api/watches/*/events': events,
      '/api/watches/*/preview': stream,
      '/api/watches/*/test': stream,
      '/api/alerts/*/clip': stream,
      '/mcp': stream,
      '/evidence/*.mp4': stream,
      '/console*': 'bucket',
      '/docs': 'bucket',
      '/docs/*': 'bucket',
    });
  });

  test('CloudFront caches nothing of the API and forwards all that a caller sends', () => {
    const cachingDisabled = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
    const allViewerExceptHost = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';
    const api = [edge.DefaultCacheBehavior, ...edge.CacheBehaviors].filter(
      ({ PathPattern }: any) => !['/console*', '/docs', '/docs/*'].includes(PathPattern),
    );
    expect(api).toHaveLength(streamPaths.length + 1);
    for (const behavior of api)
      expect(behavior).toMatchObject({
        CachePolicyId: cachingDisabled,
        OriginRequestPolicyId: allViewerExceptHost,
        ViewerProtocolPolicy: 'https-only',
        FunctionAssociations: [{ EventType: 'viewer-request' }],
      });
  });

  test('CloudFront caches no error, because another caller could receive it', () => {
    const kept = new Map(
      edge.CustomErrorResponses.map((each: any) => [each.ErrorCode, each.ErrorCachingMinTTL]),
    );
    // Configurable statuses (https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/HTTPStatusCodes.html).
    for (const status of [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504])
      expect(kept.get(status)).toBe(0);
  });

  test('names of account-wide CloudFront resources contain the region', () => {
    const names = [
      ...ofType(synthesized, 'AWS::CloudFront::ResponseHeadersPolicy').map(
        ([, { Properties }]) => Properties.ResponseHeadersPolicyConfig.Name,
      ),
      ...ofType(synthesized, 'AWS::CloudFront::OriginAccessControl').map(
        ([, { Properties }]) => Properties.OriginAccessControlConfig.Name,
      ),
      ...ofType(synthesized, 'AWS::CloudFront::Function').map(([, { Properties }]) => Properties.Name),
    ];
    expect(names).toHaveLength(7);
    for (const name of names) expect(name).toContain('eu-central-1');
  });

  test('CloudFront sends the secret header, and the template contains only a reference to it', () => {
    const custom = edge.Origins.filter(({ CustomOriginConfig }: any) => CustomOriginConfig);
    expect(custom).toHaveLength(3);
    expect(
      custom.map(({ CustomOriginConfig: { OriginReadTimeout } }: any) => OriginReadTimeout).toSorted(),
    ).toEqual([60, 90, 90]);
    for (const { CustomOriginConfig, OriginCustomHeaders } of custom) {
      expect(CustomOriginConfig).toMatchObject({
        OriginProtocolPolicy: 'https-only',
        OriginSSLProtocols: ['TLSv1.2'],
      });
      expect(OriginCustomHeaders[0].HeaderName).toBe(originSecretHeader);
      expect(JSON.stringify(OriginCustomHeaders[0].HeaderValue)).toContain('{{resolve:secretsmanager:');
      expect(OriginCustomHeaders[1].HeaderName).toBe(originHostsHeader);
      for (const host of ['HttpHttpApi', '"StreamFunctionAlias', 'EventsStreamFunctionAlias'])
        expect(JSON.stringify(OriginCustomHeaders[1].HeaderValue)).toContain(host);
    }
  });

  test('a custom domain uses its certificate and TLS 1.2', () => {
    const certificateArn =
      'arn:aws:acm:us-east-1:123456789012:certificate/11111111-2222-3333-4444-555555555555';
    const own = synthesize({ domain: { name: 'watch.example.com', certificateArn } });
    expect(one(own, 'AWS::CloudFront::Distribution', 'Edge').DistributionConfig).toMatchObject({
      Aliases: ['watch.example.com'],
      ViewerCertificate: { AcmCertificateArn: certificateArn, MinimumProtocolVersion: 'TLSv1.2_2021' },
    });
    expect(ownFunctions(own)['api'].Environment.Variables.BASE_URL).toBe('https://watch.example.com/api');
  });
});

describe('Alarms', () => {
  const alarms = ofType(synthesized, 'AWS::CloudWatch::Alarm');

  test.for(alarms)(
    'the alarm %s has an action and links to a section of the runbook',
    ([, { Properties }]) => {
      expect(Properties.AlarmActions).toHaveLength(1);
      const [, anchor] = /docs\/operate\/runbook\.md#([a-z-]+)$/.exec(Properties.AlarmDescription) ?? [];
      expect(parseAnchors(runbook)).toContain(anchor);
    },
  );

  test('the policy of the topic permits CloudWatch to publish', () => {
    const { PolicyDocument } = one(synthesized, 'AWS::SNS::TopicPolicy', 'Alarms');
    expect(PolicyDocument.Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    );
  });

  test('no expression adds metrics that an idle function does not have', () => {
    const expressions = alarms.flatMap(([, { Properties }]) =>
      (Properties.Metrics ?? []).flatMap(({ Expression }: any) => Expression ?? []),
    );
    expect(expressions.length).toBeGreaterThan(10);
    for (const expression of expressions) expect(expression).not.toContain(' + ');
  });

  test('every alarm section of the runbook has an alarm', () => {
    const named: string[] = alarms.map(([, { Properties }]) => Properties.AlarmDescription.split('#')[1]);
    const sections = parseAnchors(runbook).filter((anchor) => anchor !== 'before-anything');
    expect(sections.toSorted()).toEqual(named.toSorted());
  });

  test('alarm names start with the prefix that api and stream receive', () => {
    for (const name of ['api', 'stream'])
      expect(functions[name].Environment.Variables.ALARM_PREFIX).toBe('Watchpost-test/');
    for (const [, { Properties }] of alarms) {
      const [, anchor] = Properties.AlarmDescription.split('#');
      expect(Properties.AlarmName).toBe(`Watchpost-test/${anchor}`);
    }
  });

  test('every custom metric of an alarm is a metric that the functions emit', () => {
    const metrics = alarms.flatMap(([, { Properties }]) => listMetrics(Properties));
    const own = metrics.filter(({ Namespace }) => Namespace === metricNamespace);
    expect(own.length).toBeGreaterThan(3);
    for (const { MetricName, Dimensions } of own) {
      expect(Object.keys(metricUnits)).toContain(MetricName);
      expect(Dimensions).toEqual([{ Name: 'service', Value: 'Watchpost-test' }]);
    }
    expect(functions['analyze'].Environment.Variables.POWERTOOLS_SERVICE_NAME).toBe('Watchpost-test');
    expect(metricNamespace).toBe(emittedNamespace);
  });

  test('every metric of AWS in an alarm is documented under its name', () => {
    const metrics = alarms.flatMap(([, { Properties }]) => listMetrics(Properties));
    const theirs = metrics.filter(({ Namespace }) => Namespace?.startsWith('AWS/'));
    expect(theirs.length).toBeGreaterThan(20);
    for (const { Namespace, MetricName, Dimensions = [] } of theirs) {
      const dimensions = Dimensions.map(({ Name }: any) => Name);
      expect(awsMetrics).toContainEqual(
        expect.objectContaining({ namespace: Namespace, name: MetricName, dimensions }),
      );
    }
  });

  test('the alarm reconcile-silent needs 15 minutes without a run, and is created after the distribution', () => {
    const [, alarm] = alarms.find(([id]) => id.includes('ReconcileSilent')) as any;
    expect(alarm.Properties).toMatchObject({ EvaluationPeriods: 3, TreatMissingData: 'breaching' });
    expect(JSON.stringify(alarm.DependsOn)).toContain('Distribution');
  });

  function listMetrics({ Namespace, MetricName, Dimensions, Metrics = [] }: any): any[] {
    const nested = Metrics.flatMap(({ MetricStat }: any) => (MetricStat ? [MetricStat.Metric] : []));
    return MetricName ? [{ Namespace, MetricName, Dimensions }, ...nested] : nested;
  }
});

describe('ServiceSecrets', () => {
  test('environment variables contain ARNs of secrets and no secrets', () => {
    for (const { Environment } of Object.values(functions))
      for (const [name, value] of Object.entries(Environment.Variables)) {
        expect(JSON.stringify(value)).not.toContain('{{resolve');
        if (/SECRET/.test(name)) expect(value).toEqual({ Ref: expect.stringMatching(/^Secrets/) });
      }
  });

  test('stack outputs contain no secrets', () => {
    expect(JSON.stringify(template.toJSON()['Outputs'])).not.toContain('resolve');
    expect(Object.keys(template.toJSON()['Outputs'])).toEqual(
      expect.arrayContaining(['BaseUrl', 'ConsoleUrl', 'TableName', 'StateMachineArn', 'LogGroupName']),
    );
  });
});

/** Puts a value in the place of each reference, which CloudFormation resolves. */
function resolveReferences(variables: Record<string, unknown>): Record<string, string> {
  const resolved = Object.entries(variables).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : 'https://resolved.example',
  ]);
  return Object.fromEntries(resolved);
}

/** Returns the anchors of headings, as GitHub generates them. */
function parseAnchors(markdown: string): string[] {
  return [...markdown.matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^a-z0-9 -]/g, '')
      .replaceAll(' ', '-'),
  );
}
