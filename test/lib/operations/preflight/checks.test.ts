import { expect, test } from 'vitest';
import { checkAccount, toExitCode } from '../../../../lib/operations/preflight/checks.ts';
import { countStreams } from '../../../../lib/operations/preflight/quotas.ts';
import { listActions } from '../../../../lib/operations/preflight/deployment-actions.ts';
import type { PolicyDecision } from '../../../../lib/operations/preflight/policies.ts';
import type { AccountFacts } from '../../../../lib/operations/preflight/facts.ts';
import { stageSettingsSchema, type StageSettingsInput } from '../../../../lib/stages/stage-settings.ts';

const modelId = 'eu.amazon.nova-lite-v1:0';
const seasoned: AccountFacts = {
  region: 'eu-central-1',
  account: { value: '123456789012' },
  concurrency: { value: { limit: 1000, unreserved: 1000 } },
  bootstrappedRegions: { value: ['eu-central-1'] },
  model: { value: 'answered' },
  modelQuotas: { value: { tokensPerMinute: 1_000_000, tokensPerDay: 1_440_000_000 } },
  transitionsPerSecond: { value: 800 },
  distributions: { value: { used: 3, quota: 500 } },
  headerPolicies: { value: { used: 6, quota: 20 } },
  lifecycle: { value: { status: 'ACTIVE', end: undefined } },
  deployment: {
    value: {
      principal: 'arn:aws:iam::123456789012:role/cdk-hnb659fds-cfn-exec-role-123456789012-eu-central-1',
      decisions: [{ action: 'sqs:CreateQueue', decision: 'allowed', byOrganization: false }],
    },
  },
  assumption: {
    value: {
      principal: 'arn:aws:iam::123456789012:user/ops',
      decisions: [{ action: 'sts:AssumeRole', decision: 'allowed', byOrganization: false }],
    },
  },
  layer: 'built',
};
const check = (facts: Partial<AccountFacts>, settings: StageSettingsInput = {}) =>
  checkAccount(
    { ...seasoned, ...facts },
    stageSettingsSchema.parse({ alarmEmail: 'ops@example.com', ...settings }),
    modelId,
  );
const simulated = (decisions: PolicyDecision[]) => ({
  value: { principal: 'arn:aws:iam::1:role/r', decisions },
});
const level = (results: ReturnType<typeof check>, name: string) =>
  results.find((result) => result.check === name);

test('a seasoned account has green results only', () => {
  const results = check({});
  expect(results.filter((result) => result.level !== 'green')).toEqual([]);
  expect(level(results, 'model quotas')?.found).toContain('carry 107 streams');
  expect(toExitCode(results)).toBe(0);
});

test('credentials of another account than that of the stage stop a deployment', () => {
  expect(level(check({}, { account: '123456789012' }), 'credentials')?.level).toBe('green');
  expect(level(check({}, { account: '210987654321' }), 'credentials')).toMatchObject({
    level: 'red',
    found: 'They are of account 123456789012, and the stage is for 210987654321.',
  });
});

test('a model in its legacy period, and the last response headers policies, are reported before a deployment', () => {
  const legacy = check({ lifecycle: { value: { status: 'LEGACY', end: new Date('2027-03-01') } } });
  expect(level(legacy, 'model lifecycle')).toMatchObject({
    level: 'yellow',
    found: `${modelId} is legacy and ends on 2027-03-01.`,
  });
  expect(level(check({ headerPolicies: { value: { used: 17, quota: 20 } } }), 'header policies')?.level).toBe(
    'green',
  );
  expect(level(check({ headerPolicies: { value: { used: 18, quota: 20 } } }), 'header policies')?.level).toBe(
    'red',
  );
});

test('every yellow and red result names the next step', () => {
  const denied = { error: { name: 'AccessDeniedException', message: 'no' } };
  const results = check(
    {
      concurrency: denied,
      bootstrappedRegions: denied,
      model: denied,
      headerPolicies: denied,
      lifecycle: denied,
      modelQuotas: denied,
      transitionsPerSecond: denied,
      distributions: denied,
      deployment: denied,
      assumption: denied,
      layer: 'missing',
    },
    { burstSeconds: 0, alarmEmail: undefined },
  );
  expect(results.filter((result) => result.level === 'green')).toEqual([]);
  for (const { next } of results) expect(next).toMatch(/^[A-Z].+\.$/);
  expect(toExitCode(results)).toBe(1);
});

test('a model that is closed to a new account is red, with AWS Support as the next step', () => {
  const model = { error: { name: 'ValidationException', message: 'Operation not allowed' } };
  expect(level(check({ model }), 'model access')).toMatchObject({
    level: 'red',
    next: expect.stringContaining('AWS Support'),
  });
});

test('a region without the assets bucket of the CDK is red', () => {
  const results = check({ bootstrappedRegions: { value: ['us-east-1'] } });
  expect(level(results, 'bootstrap')).toMatchObject({ level: 'red', next: 'Run npx cdk bootstrap.' });
});

test('reserved executions that a new account does not have are red', () => {
  const concurrency = { value: { limit: 10, unreserved: 10 } };
  expect(level(check({ concurrency }), 'Lambda concurrency')?.level).toBe('yellow');
  const reserving = check({ concurrency }, { reservedConcurrency: { api: 50, stream: 100 } });
  expect(level(reserving, 'Lambda concurrency')?.level).toBe('red');
});

test('a quota of fewer tokens than one stream takes is red', () => {
  const modelQuotas = { value: { tokensPerMinute: 4_000 } };
  expect(level(check({ modelQuotas }), 'model quotas')?.level).toBe('red');
  expect(
    level(check({ modelQuotas: { value: {} } }, { modelTokensPerMinute: 4_000 }), 'model quotas')?.level,
  ).toBe('red');
});

test('the quotas of a new account are compared too, and the least decides', () => {
  const fine = { tokensPerMinute: 1_000_000, tokensPerDay: 1_440_000_000 };
  const found = (more: object) =>
    level(check({ modelQuotas: { value: { ...fine, ...more } } }), 'model quotas');
  expect(found({ requestsPerMinute: 5 })).toMatchObject({
    level: 'red',
    found: expect.stringContaining('5 calls per minute carry none'),
  });
  expect(found({ requestsPerMinute: 60 })).toMatchObject({
    level: 'yellow',
    next: expect.stringContaining('60 calls per minute are the least'),
  });
  expect(found({ accountTokensPerDay: 1_000_000 })?.level).toBe('red');
  expect(found({ requestsPerMinute: 1_000, accountTokensPerDay: 1_440_000_000 })?.level).toBe('green');
});

test('a model whose quotas are not found is never green', () => {
  const unknown = { modelQuotas: { value: { accountTokensPerDay: 9e9 } } };
  for (const settings of [{}, { modelTokensPerMinute: 1_000_000 }])
    expect(level(check(unknown, settings), 'model quotas')).toMatchObject({
      level: 'yellow',
      next: expect.stringContaining('modelTokensPerMinute'),
    });
});

test('the streams of an account are the least of the ceilings of capture and of the rest, by kind of source', () => {
  const streams = (settings: StageSettingsInput) => level(check({}, settings), 'Lambda concurrency')?.found;
  const prod = { reservedConcurrency: { api: 50, stream: 100, capture: 100 } };
  expect(streams(prod)).toContain('1000 streams of HLS or 285 of RTSP');
  const least = { mode: 'frames', intervalSeconds: 10 } as const;
  const count = (source: 'hls' | 'rtsp', capture: number, analyze?: number) =>
    countStreams(1000, { capture, ...(analyze !== undefined && { analyze }) }, { ...least, source });
  expect([count('rtsp', 100), count('hls', 100)]).toEqual([333, 2000]);
  expect(count('hls', 600, 10)).toBe(63);
  expect(countStreams(1000, {}, { ...least, source: 'hls' })).toBe(2403);
  expect(countStreams(100, { capture: 100 }, { ...least, source: 'hls' })).toBe(0);
});

test('a quota per day that carries fewer streams than the one per minute is yellow, and red if it carries none', () => {
  const withDay = (tokensPerDay: number) =>
    level(check({ modelQuotas: { value: { tokensPerMinute: 200_000, tokensPerDay } } }), 'model quotas');
  expect(withDay(288_000_000)?.level).toBe('green');
  expect(withDay(30_000_000)).toMatchObject({
    level: 'yellow',
    found: expect.stringContaining('30000000 tokens per day carry 2 streams'),
  });
  expect(withDay(1_000_000)?.level).toBe('red');
});

test('an account without a distribution may have to be verified, one at its quota cannot create another', () => {
  const withUsed = (used: number, quota: number | null) =>
    level(check({ distributions: { value: { used, quota } } }), 'CloudFront');
  expect(withUsed(0, 500)).toMatchObject({ level: 'yellow', next: expect.stringContaining('verified') });
  expect(withUsed(1, null)?.level).toBe('green');
  expect(withUsed(500, 500)).toMatchObject({ level: 'red', next: expect.stringContaining('us-east-1') });
});

test('an action that a service control policy forbids is red, with the setting that avoids it', () => {
  const denied = (action: string, byOrganization: boolean, decision: PolicyDecision['decision']) =>
    level(check({ deployment: simulated([{ action, decision, byOrganization }]) }), 'policies');
  expect(denied('lambda:CreateFunctionUrlConfig', true, 'explicitDeny')).toMatchObject({
    level: 'red',
    found: expect.stringContaining('A service control policy forbids lambda:CreateFunctionUrlConfig'),
    next: expect.stringContaining('rest-api'),
  });
  expect(denied('sqs:CreateQueue', true, 'implicitDeny')?.level).toBe('red');
  expect(denied('sqs:CreateQueue', false, 'explicitDeny')?.found).toContain('A policy forbids');
  // The simulation has no resource: a permission for resources by name looks like none.
  expect(denied('sqs:CreateQueue', false, 'implicitDeny')?.level).toBe('yellow');
});

test('a long list of forbidden actions is cut, and an operator without the roles of the CDK is warned', () => {
  const decisions = Array.from({ length: 8 }, (_, index) => ({
    action: `iam:Action${index}`,
    decision: 'explicitDeny' as const,
    byOrganization: true,
  }));
  const results = check({ deployment: simulated(decisions), assumption: simulated(decisions.slice(0, 1)) });
  expect(level(results, 'policies')?.found).toContain('iam:Action4 and 3 more');
  expect(level(results, 'roles of the CDK')?.level).toBe('yellow');
});

test('the actions are those of the stage', () => {
  const actions = (settings: StageSettingsInput) => listActions(stageSettingsSchema.parse(settings));
  expect(actions({})).toContain('lambda:CreateFunctionUrlConfig');
  expect(actions({})).not.toContain('ec2:CreateNatGateway');
  expect(actions({ streamOrigin: 'rest-api' })).not.toContain('lambda:CreateFunctionUrlConfig');
  expect(actions({ fixedEgress: 'new-vpc' })).toContain('ec2:CreateNatGateway');
});

test('a layer that is not built is built by the deployment if there is a pip', () => {
  expect(level(check({ layer: 'buildable' }), 'ffmpeg layer')?.level).toBe('green');
  expect(level(check({ layer: 'missing' }), 'ffmpeg layer')?.next).toContain('pip');
});

test('a stage whose alarms reach nobody is yellow', () => {
  const none = level(check({}, { alarmEmail: undefined }), 'alarms');
  expect(none).toMatchObject({ level: 'yellow', next: expect.stringContaining('Set one') });
  const alarmTopicArn = 'arn:aws:sns:eu-central-1:123456789012:pager';
  expect(level(check({}, { alarmEmail: undefined, alarmTopicArn }), 'alarms')?.level).toBe('green');
});

test('the transitions of an account say how many streams they carry', () => {
  expect(level(check({}), 'Step Functions')?.found).toContain('800 per second carry 32000 streams');
  const none = check({ transitionsPerSecond: { value: 0 } });
  expect(level(none, 'Step Functions')?.level).toBe('red');
  expect(level(check({}, { burstSeconds: 0 }), 'Step Functions')?.level).toBe('yellow');
});
