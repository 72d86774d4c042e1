import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import validateWorkflow from 'asl-validator';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { ttlAttribute } from '../../adapters/aws/dynamodb/table-layout.ts';
import { originSecretHeader } from '../../adapters/aws/http/origin-headers.ts';
import { backoffSeconds } from '../../adapters/aws/message-visibility.ts';
import { metricNamespace as emittedNamespace } from '../../adapters/aws/telemetry/metrics.ts';
import { measurementUnits } from '../../core/ports/measurements.ts';
import { analyzeConfigSchema } from '../../functions/analyze/config.ts';
import { apiConfigSchema } from '../../functions/api/config.ts';
import { captureConfigSchema } from '../../functions/capture/config.ts';
import { deliverConfigSchema } from '../../functions/deliver/config.ts';
import { reconcileConfigSchema } from '../../functions/reconcile/config.ts';
import { streamConfigSchema } from '../../functions/stream/config.ts';
import { metricNamespace } from '../../lib/alarms/service-metrics.ts';
import { streamPaths } from '../../lib/edge/edge.ts';
import { cfnLint } from './cfn-lint.ts';
import { describeRoles } from './roles.ts';
import { ofType, one, ownFunctions, synthesize } from './synthesize.ts';

const synthesized = synthesize({ alarmEmail: 'operator@example.com' });
const { resources, template } = synthesized;
const functions = ownFunctions(synthesized);
const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');

describe('webhook delivery', () => {
  const queue = one(synthesized, 'AWS::SQS::Queue', 'DeliveriesQueue');

  test('the queue keeps the order of a job and has dead letters, which are kept for two weeks', () => {
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

  test('a message stays invisible for longer than its function may take', () => {
    expect(queue.VisibilityTimeout).toBeGreaterThan(functions['deliver'].Timeout);
  });

  test('messages come one by one, and fail one by one', () => {
    const [[, source]] = ofType(synthesized, 'AWS::Lambda::EventSourceMapping') as any;
    expect(source.Properties).toMatchObject({
      BatchSize: 1,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
  });
});

describe('functions', () => {
  const schemas: Record<string, z.ZodObject> = {
    analyze: analyzeConfigSchema,
    api: apiConfigSchema,
    capture: captureConfigSchema,
    deliver: deliverConfigSchema,
    reconcile: reconcileConfigSchema,
    stream: streamConfigSchema,
  };

  test.for(Object.entries(schemas))('%s is given what it needs and nothing else', ([name, schema]) => {
    const given = functions[name].Environment.Variables;
    const unresolved = Object.entries(given).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : 'https://resolved.example',
    ]);
    expect(schema.strict().safeParse(Object.fromEntries(unresolved)).error?.issues).toBeUndefined();
  });

  test('all run on Node 24 and arm64, trace, and log to the one group', () => {
    for (const name of Object.keys(schemas))
      expect(functions[name]).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        TracingConfig: { Mode: 'Active' },
        LoggingConfig: { LogFormat: 'JSON', LogGroup: { Ref: expect.stringMatching(/^LogFunctions/) } },
      });
  });

  test("each ends before what waits for it: the HTTP API, the workflow's tasks, Lambda itself", () => {
    const states = JSON.parse(definition()).States;
    expect(functions['api'].Timeout).toBeLessThan(30);
    expect(functions['capture'].Timeout).toBeLessThan(states.Capture.TimeoutSeconds);
    expect(functions['analyze'].Timeout).toBeLessThan(states.Analyze.TimeoutSeconds);
    expect(functions['stream'].Timeout).toBeGreaterThan(
      Number(functions['stream'].Environment.Variables.EVENT_STREAM_SECONDS),
    );
  });

  test('none reserves executions by default, which a new account has not', () => {
    for (const each of Object.values(functions)) expect(each.ReservedConcurrentExecutions).toBeUndefined();
  });
});

describe('what is kept', () => {
  test("the table deletes by the layout's attribute, is encrypted, backed up and protected", () => {
    expect(one(synthesized, 'AWS::DynamoDB::Table', 'Jobs')).toMatchObject({
      TimeToLiveSpecification: { AttributeName: ttlAttribute, Enabled: true },
      BillingMode: 'PAY_PER_REQUEST',
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      SSESpecification: { SSEEnabled: true },
    });
  });

  test('buckets are private and take TLS only', () => {
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

  test('pictures are gone after a day', () => {
    const { LifecycleConfiguration } = one(synthesized, 'AWS::S3::Bucket', 'Media');
    expect(LifecycleConfiguration.Rules).toContainEqual(
      expect.objectContaining({ ExpirationInDays: 1, Status: 'Enabled' }),
    );
  });

  test('no log group has a name that an earlier stack may have left behind', () => {
    const named = ofType(synthesized, 'AWS::Logs::LogGroup').flatMap(
      ([, { Properties }]) => Properties.LogGroupName ?? [],
    );
    expect(named).toHaveLength(2);
    for (const name of named) expect(JSON.stringify(name)).toContain('AWS::StackId');
  });

  test('every log group has an end', () => {
    const groups = ofType(synthesized, 'AWS::Logs::LogGroup');
    expect(groups).toHaveLength(3);
    for (const [, { Properties }] of groups) expect(Properties.RetentionInDays).toBe(30);
  });
});

describe('the workflow', () => {
  test('logs every step without what passes through it', () => {
    expect(one(synthesized, 'AWS::StepFunctions::StateMachine', 'Watch')).toMatchObject({
      StateMachineType: 'STANDARD',
      LoggingConfiguration: { Level: 'ALL', IncludeExecutionData: false },
      TracingConfiguration: { Enabled: true },
    });
  });

  test('is a valid definition once the functions are put in', () => {
    expect(validateWorkflow(JSON.parse(definition())).errors).toEqual([]);
  });

  test('is not valid when a state leads nowhere', () => {
    const broken = definition().replace('"Default": "Pause"', '"Default": "Nowhere"');
    expect(validateWorkflow(JSON.parse(broken)).errors).not.toEqual([]);
  });

  test('every placeholder is substituted', () => {
    expect(definition()).not.toContain('${');
  });

  test('calls of reconcile that wait for longer than ten minutes are given up, by EventBridge and by Lambda', () => {
    const [[, invoke]] = ofType(synthesized, 'AWS::Lambda::EventInvokeConfig') as any;
    expect(invoke.Properties.MaximumEventAgeInSeconds).toBe(600);
    for (const [, { Properties }] of ofType(synthesized, 'AWS::Events::Rule'))
      expect(Properties.Targets[0].RetryPolicy.MaximumEventAgeInSeconds).toBe(600);
  });

  test('reconcile hears of its ends, and looks each minute', () => {
    const rules = ofType(synthesized, 'AWS::Events::Rule').map(([, { Properties }]) => Properties);
    expect(rules).toContainEqual(expect.objectContaining({ ScheduleExpression: 'rate(1 minute)' }));
    const pattern = rules.find(({ EventPattern }) => EventPattern).EventPattern;
    expect(pattern.detail.stateMachineArn).toEqual([{ Ref: expect.stringMatching(/^WatchStateMachine/) }]);
  });
});

describe('the edge', () => {
  const { DistributionConfig: edge } = one(synthesized, 'AWS::CloudFront::Distribution', 'Edge');

  test('what streams or takes long goes to the function URL, the console to its bucket', () => {
    const origin = (id: string) => edge.Origins.find(({ Id }: any) => Id === id);
    const paths = edge.CacheBehaviors.map(({ PathPattern, TargetOriginId }: any) => [
      PathPattern,
      'S3OriginConfig' in origin(TargetOriginId)
        ? 'bucket'
        : JSON.stringify(origin(TargetOriginId).DomainName),
    ]);
    const stream = expect.stringContaining('FunctionUrl');
    expect(Object.fromEntries(paths)).toEqual({
      '/api/live-monitor': stream,
      '/api/live-digest': stream,
      '/api/jobs/*/events': stream,
      '/api/check-once': stream,
      '/api/analyze-frame': stream,
      '/api/streams/validate': stream,
      '/api/webhook-test': stream,
      '/mcp': stream,
      '/console*': 'bucket',
    });
  });

  test('nothing of the API is cached, and everything that a caller sends is passed on', () => {
    const cachingDisabled = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
    const allViewerExceptHost = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';
    const api = [edge.DefaultCacheBehavior, ...edge.CacheBehaviors].filter(
      ({ PathPattern }: any) => PathPattern !== '/console*',
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

  test("no error is kept: without headers in the cache's key one caller's 403 would be the next one's", () => {
    const kept = new Map(
      edge.CustomErrorResponses.map((each: any) => [each.ErrorCode, each.ErrorCachingMinTTL]),
    );
    // The statuses of https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/HTTPStatusCodes.html that can be set.
    for (const status of [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504])
      expect(kept.get(status)).toBe(0);
  });

  test('what CloudFront names for all regions of an account at once has the region in its name', () => {
    const names = [
      ...ofType(synthesized, 'AWS::CloudFront::ResponseHeadersPolicy').map(
        ([, { Properties }]) => Properties.ResponseHeadersPolicyConfig.Name,
      ),
      ...ofType(synthesized, 'AWS::CloudFront::OriginAccessControl').map(
        ([, { Properties }]) => Properties.OriginAccessControlConfig.Name,
      ),
      ...ofType(synthesized, 'AWS::CloudFront::Function').map(([, { Properties }]) => Properties.Name),
    ];
    expect(names).toHaveLength(5);
    for (const name of names) expect(name).toContain('eu-central-1');
  });

  test('the origins are sent the secret, which the template does not know', () => {
    const custom = edge.Origins.filter(({ CustomOriginConfig }: any) => CustomOriginConfig);
    expect(custom).toHaveLength(2);
    for (const { CustomOriginConfig, OriginCustomHeaders } of custom) {
      expect(CustomOriginConfig).toMatchObject({
        OriginReadTimeout: 60,
        OriginProtocolPolicy: 'https-only',
        OriginSSLProtocols: ['TLSv1.2'],
      });
      expect(OriginCustomHeaders[0].HeaderName).toBe(originSecretHeader);
      expect(JSON.stringify(OriginCustomHeaders[0].HeaderValue)).toContain('{{resolve:secretsmanager:');
    }
  });

  test('a domain of its own brings its certificate and TLS 1.2', () => {
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

describe('alarms', () => {
  const alarms = ofType(synthesized, 'AWS::CloudWatch::Alarm');

  test.for(alarms)('%s tells somebody, and names a section of the runbook', ([, { Properties }]) => {
    expect(Properties.AlarmActions).toHaveLength(1);
    const [, anchor] = /docs\/runbook\.md#([a-z-]+)$/.exec(Properties.AlarmDescription) ?? [];
    expect(anchorsOf(runbook)).toContain(anchor);
  });

  test('CloudWatch may tell the topic, whose policy takes the place of the default one', () => {
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

  test('a sum over functions has a value while some of them are idle, and so have no metrics', () => {
    const expressions = alarms.flatMap(([, { Properties }]) =>
      (Properties.Metrics ?? []).flatMap(({ Expression }: any) => Expression ?? []),
    );
    expect(expressions).toContainEqual(
      expect.stringMatching(/^SUM\(\[FILL\(errors_api, 0\), .*FILL\(errors_reconcile, 0\)\]\)$/),
    );
    for (const expression of expressions) expect(expression).not.toContain(' + ');
  });

  test('every section of the runbook that is an alarm has one', () => {
    const named: string[] = alarms.map(([, { Properties }]) => Properties.AlarmDescription.split('#')[1]);
    const sections = anchorsOf(runbook).filter((anchor) => anchor !== 'before-anything');
    expect(sections.toSorted()).toEqual(named.toSorted());
  });

  test('have names by which those who answer callers find them', () => {
    for (const name of ['api', 'stream'])
      expect(functions[name].Environment.Variables.ALARM_PREFIX).toBe('Watchpost-test/');
    for (const [, { Properties }] of alarms) {
      const [, anchor] = Properties.AlarmDescription.split('#');
      expect(Properties.AlarmName).toBe(`Watchpost-test/${anchor}`);
    }
  });

  test('what is watched in our own namespace is counted by the functions', () => {
    const metrics = alarms.flatMap(([, { Properties }]) => metricsOf(Properties));
    const own = metrics.filter(({ Namespace }) => Namespace === metricNamespace);
    expect(own.length).toBeGreaterThan(3);
    for (const { MetricName, Dimensions } of own) {
      expect(Object.keys(measurementUnits)).toContain(MetricName);
      expect(Dimensions).toEqual([{ Name: 'service', Value: 'Watchpost-test' }]);
    }
    expect(functions['analyze'].Environment.Variables.POWERTOOLS_SERVICE_NAME).toBe('Watchpost-test');
    expect(metricNamespace).toBe(emittedNamespace);
  });

  function metricsOf({ Namespace, MetricName, Dimensions, Metrics = [] }: any): any[] {
    const nested = Metrics.flatMap(({ MetricStat }: any) => (MetricStat ? [MetricStat.Metric] : []));
    return MetricName ? [{ Namespace, MetricName, Dimensions }, ...nested] : nested;
  }
});

describe('secrets', () => {
  test('none is in a variable: only names of where they are', () => {
    for (const { Environment } of Object.values(functions))
      for (const [name, value] of Object.entries(Environment.Variables)) {
        expect(JSON.stringify(value)).not.toContain('{{resolve');
        if (/SECRET/.test(name)) expect(value).toEqual({ Ref: expect.stringMatching(/^Secrets/) });
      }
  });

  test('none is in an output', () => {
    expect(JSON.stringify(template.toJSON()['Outputs'])).not.toContain('resolve');
    expect(Object.keys(template.toJSON()['Outputs'])).toEqual(
      expect.arrayContaining(['BaseUrl', 'ConsoleUrl', 'TableName', 'StateMachineArn', 'LogGroupName']),
    );
  });
});

describe('roles', () => {
  test('may do what is written in roles.snapshot.md, and no more', async () => {
    await expect(describeRoles(resources)).toMatchFileSnapshot('./roles.snapshot.md');
  });

  test('capture reads sources and writes pictures', () => {
    const [section = ''] = describeRoles(resources)
      .split('\n## ')
      .filter((each) => each.startsWith('CaptureRole'));
    const actions = [...section.matchAll(/^- (\S+)/gm)].map(([, action]) => action);
    expect(actions).toEqual([
      'dynamodb:GetItem',
      'logs:CreateLogStream',
      'logs:PutLogEvents',
      's3:PutObject',
      'xray:PutTelemetryRecords',
      'xray:PutTraceSegments',
    ]);
    expect(section).toContain('"dynamodb:LeadingKeys":["SOURCE#*"]');
  });

  test('capture reads the one secret that a stage gives it, and no other function does', () => {
    const arn = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:watchpost/platforms-AbC123';
    const given = synthesize({ platformSecretArn: arn, youtubeClients: ['WEB', 'VISIONOS'] });

    const reading = describeRoles(given.resources)
      .split('\n## ')
      .filter((section) => section.includes(arn));
    expect(reading.map((section) => section.split('\n')[0])).toEqual(['CaptureRole']);
    expect(reading[0]!.match(/^- secretsmanager:.*$/gm)).toEqual([
      `- secretsmanager:GetSecretValue on \`${arn}\``,
    ]);
    const environment = ownFunctions(given)['capture'].Environment.Variables;
    expect(environment.PLATFORM_SECRET_ARN).toBe(arn);
    const { YOUTUBE_CLIENTS: clients } = captureConfigSchema.shape;
    expect(clients.parse(environment.YOUTUBE_CLIENTS)).toEqual(['WEB', 'VISIONOS']);
  });

  test('no role of ours has a wildcard for an action, or for a resource that could be named', () => {
    const own = describeRoles(resources).replace(/## CustomCDKBucketDeployment[^#]*/, '');
    expect(own).not.toMatch(/^- \S*\*/m);
    const everything = [...own.matchAll(/^- (\S+) on `\*`/gm)].map(([, action]) => action);
    expect(
      everything.filter((action) => !/^xray:|^logs:\w*(Deliver|ResourcePolic|LogGroups)/.test(action!)),
    ).toEqual([]);
  });
});

test('cfn-lint finds nothing', { timeout: 300_000 }, async (context) => {
  const lint = await cfnLint();
  if (lint === undefined)
    return context.skip('cfn-lint could not be installed: no Python 3 with pip and a registry');
  expect(await lint(join(synthesized.outDir, 'Watchpost-test.template.json'))).toBe('');
});

/** As GitHub makes them. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^a-z0-9 -]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** The workflow with its functions put in. */
function definition(): string {
  const { DefinitionString, DefinitionSubstitutions } = one(
    synthesized,
    'AWS::StepFunctions::StateMachine',
    'Watch',
  );
  return Object.keys(DefinitionSubstitutions).reduce(
    (whole, name) =>
      whole.replaceAll(`\${${name}}`, `arn:aws:lambda:eu-central-1:123456789012:function:${name}`),
    DefinitionString,
  );
}
