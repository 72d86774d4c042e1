import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkEdgeLogs } from '../../../../lib/operations/preflight/checks.ts';
import { ofType, synthesize } from '../../synthesize.ts';

test.each([
  [{ accessLogs: true }, 'us-east-1', 'green'],
  [{ accessLogs: true }, 'eu-central-1', 'yellow'],
  [{ accessLogs: false }, 'eu-central-1', 'green'],
])('logs of CloudFront by %j in %s are %s', (settings, region, level) => {
  expect(checkEdgeLogs(settings, region)).toMatchObject({ level });
});

test('the commands for another region record the fields of the stack, into the folder that its bucket opens', () => {
  const page = readFileSync('docs/operate/aws.md', 'utf8');
  const [, { Properties }] = ofType(synthesize({ region: 'us-east-1' }), 'AWS::Logs::Delivery')[0]!;
  const fields = Properties.RecordFields.map((name: string) => (name.includes('(') ? `'${name}'` : name));
  expect(page).toContain(`--record-fields ${fields.join(' ')}\n`);
  const policies = ofType(synthesize({}), 'AWS::S3::BucketPolicy').map(([, each]) => JSON.stringify(each));
  expect(policies.filter((text) => text.includes('delivery.logs.amazonaws.com'))).toMatchObject([
    expect.stringContaining('/edge/*'),
  ]);
});
