import { expect, test } from 'vitest';
import { captureConfigSchema } from '../../../functions/capture/config.ts';
import { deliverConfigSchema } from '../../../functions/deliver/config.ts';
import { describeRoles } from '../roles.ts';
import { ownFunctions, synthesize } from '../synthesize.ts';

const synthesized = synthesize({ alarmEmail: 'operator@example.com', eventBus: 'new-bus' });
const { resources } = synthesized;

const roleOf = (name: string) =>
  describeRoles(resources)
    .split('\n## ')
    .find((section) => section.startsWith(`${name}Role\n`)) ?? '';

test('the role of reconcile queries the runs that are due, and by caller the alerts of a watch that it purges', () => {
  const queried = roleOf('Reconcile').matchAll(/^- dynamodb:Query on `<JobsTable.Arn>\/index\/(\S+)`/gm);
  expect([...queried].map(([, index]) => index)).toEqual(['jobs-by-caller', 'repair']);
});

test('the role of capture reads sources and motion references, no frames, and writes captures and clips', () => {
  const section = roleOf('Capture');
  const actions = [...section.matchAll(/^- (\S+)/gm)].map(([, action]) => action);
  expect(actions).toEqual([
    'dynamodb:GetItem',
    'logs:CreateLogStream',
    'logs:PutLogEvents',
    's3:GetObject',
    's3:PutObject',
    's3:PutObject',
    's3:PutObject',
  ]);
  expect(section).toContain('s3:PutObject on `<MediaBucket.Arn>/clips/*`');
  expect(section).toContain('s3:GetObject on `<MediaBucket.Arn>/captures/*/motion-*`');
  expect(section).toContain('s3:PutObject on `<MediaBucket.Arn>/moments/*`');
  expect(section).not.toContain('evidence');
  expect(section).toContain('"dynamodb:LeadingKeys":["SOURCE#*"]');
});

test('only the role of capture reads the platform secret of a stage', () => {
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

test('the functions that send e-mail read its server, and a stage has a sender with it', () => {
  const arn = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:watchpost/smtp-AbC123';
  const settings = { smtpSecretArn: arn, emailFrom: 'w@example.com', emailRecipients: ['@example.com'] };
  const given = synthesize(settings);
  const reading = describeRoles(given.resources)
    .split('\n## ')
    .filter((section) => section.includes(arn))
    .map((section) => section.split('\n')[0]);
  expect(reading).toEqual(['HttpApiRole', 'StreamRole', 'WebhooksDeliverRole']);
  const { Variables: variables } = ownFunctions(given)['deliver'].Environment;
  expect(deliverConfigSchema.parse(resolveReferences(variables))).toMatchObject({
    SMTP_SECRET_ARN: arn,
    EMAIL_FROM: 'w@example.com',
    EMAIL_RECIPIENTS: ['@example.com'],
  });
  expect(() => synthesize({ smtpSecretArn: arn })).toThrow('emailFrom');
});

test('no role has a wildcard for an action, or for a resource that has a name', () => {
  const own = describeRoles(resources).replace(/## CustomCDKBucketDeployment[^#]*/, '');
  expect(own).not.toMatch(/^- \S*\*/m);
  const everything = [...own.matchAll(/^- (\S+) on `\*`/gm)].map(([, action]) => action);
  expect(everything.filter((action) => !/^logs:\w*(Deliver|ResourcePolic|LogGroups)/.test(action!))).toEqual(
    [],
  );
});

test('the role of event streams reads everything that it serves, and writes only its permits and the last use of keys', () => {
  const written = [
    ...roleOf('EventsStream').matchAll(/^- (dynamodb:(?!Get|BatchGet|Query)\w+) .*when `(.*)`$/gm),
  ];
  expect(written.map(([, action]) => action)).toEqual(['dynamodb:PutItem', 'dynamodb:UpdateItem']);
  expect(written[0]?.[2]).toContain('"dynamodb:LeadingKeys":["PERMITS#*"]');
  expect(written[1]?.[2]).toContain('"dynamodb:LeadingKeys":["KEY#*"]');
  expect(written[1]?.[2]).toContain('"dynamodb:Attributes":["pk","sk","last_used_at"]');
  expect(roleOf('EventsStream').match(/(Delete|Update)Item/g)).toEqual(['UpdateItem']);
});

/** Condition keys with one value for a request (Service Authorization Reference); any other has several. */
const singleValued = [
  'bedrock:InferenceProfileArn',
  'aws:SourceAccount',
  'aws:SourceArn',
  'aws:SecureTransport',
  'lambda:SourceFunctionArn',
];

test('a condition on a key with several values holds for all of them, and not without one', () => {
  const conditions = Object.values(resources)
    .flatMap(({ Properties }) => [Properties?.PolicyDocument, Properties?.AssumeRolePolicyDocument])
    .flatMap((document) => document?.Statement ?? [])
    .flatMap(({ Condition }) => (Condition === undefined ? [] : [Condition]));
  expect(conditions.length).toBeGreaterThan(0);
  for (const condition of conditions)
    for (const [operator, keys] of Object.entries<Record<string, unknown>>(condition))
      for (const key of Object.keys(keys)) {
        if (operator === 'Null' || singleValued.includes(key.replace(/^AWS:/, 'aws:'))) continue;
        expect(`${operator} ${key}`).toMatch(/^ForAllValues:/);
        expect(condition.Null).toMatchObject({ [key]: 'false' });
      }
});

test('only the function whose messages invoke itself in a long chain is allowed to', () => {
  const looping = Object.entries(ownFunctions(synthesized)).filter(
    ([, { RecursiveLoop: loop }]) => loop !== undefined,
  );
  expect(looping.map(([name, { RecursiveLoop: loop }]) => [name, loop])).toEqual([['deliver', 'Allow']]);
});

/** Puts a value in the place of each reference, which CloudFormation resolves. */
function resolveReferences(variables: Record<string, unknown>): Record<string, string> {
  const resolved = Object.entries(variables).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : 'https://resolved.example',
  ]);
  return Object.fromEntries(resolved);
}
