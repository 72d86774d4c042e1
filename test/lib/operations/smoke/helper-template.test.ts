import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import {
  createHelperTemplate,
  helperSource,
  maxTemplateBytes,
} from '../../../../lib/operations/smoke/helper-template.ts';

const require = createRequire(import.meta.url);
function loadFunction(sent: object[] = []): any {
  const exported = {};
  const sqs = {
    SQSClient: class {
      send = async (command: { input: object }) => sent.push(command.input);
    },
    SendMessageCommand: class {
      input: object;
      constructor(input: object) {
        this.input = input;
      }
    },
  };
  // oxlint-disable-next-line typescript/no-implied-eval -- the source runs as CloudFormation deploys it
  new Function('exports', 'require', helperSource())(exported, (name: string) =>
    name === '@aws-sdk/client-sqs' ? sqs : require(name),
  );
  return exported;
}
const call = (handler: any, method: string, rawPath: string, more: object = {}) =>
  handler({ requestContext: { http: { method } }, rawPath, headers: {}, ...more });

test('the template fits into the request that creates a stack', () => {
  expect(Buffer.byteLength(JSON.stringify(createHelperTemplate()))).toBeLessThan(maxTemplateBytes);
});

test('each role permits one action on one resource of the stack', () => {
  const { Resources: resources } = createHelperTemplate() as any;
  const roles = Object.values(resources).filter(({ Type }: any) => Type === 'AWS::IAM::Role') as any[];
  const statements = roles.flatMap(({ Properties: { Policies = [] } }) =>
    Policies.flatMap(({ PolicyDocument }: any) => PolicyDocument.Statement),
  );
  expect(roles).toHaveLength(3);
  expect(statements.map(({ Action, Resource }) => [Action, Resource])).toEqual([
    ['sqs:SendMessage', { 'Fn::GetAtt': ['Queue', 'Arn'] }],
    ['states:StartSyncExecution', { Ref: 'Hold' }],
  ]);
});

test('the playlist follows the clock and marks each repetition of the segments', () => {
  const { playlist } = loadFunction();
  const lines: string[] = playlist(48_000).split('\n');
  expect(lines.filter((line) => line.endsWith('.ts'))).toEqual(['7.ts', '8.ts', '9.ts', '10.ts', '11.ts']);
  expect(lines[lines.indexOf('9.ts') - 3]).toBe('#EXT-X-DISCONTINUITY');
  expect(lines.filter((line) => line === '#EXT-X-DISCONTINUITY')).toHaveLength(1);
  expect(lines).toContain('#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:00:44.000Z');
  expect(playlist(51_999)).toBe(playlist(48_000));
  expect(playlist(52_000)).toContain('#EXT-X-MEDIA-SEQUENCE:8');
  // Segment 6 and its mark have left the list: their discontinuity is counted.
  expect(playlist(48_000)).toContain('#EXT-X-DISCONTINUITY-SEQUENCE:2');
  expect(playlist(44_000)).toContain('#EXT-X-DISCONTINUITY-SEQUENCE:1');
});

test('segments are MPEG-TS, and other paths are not found', async () => {
  const { handler } = loadFunction();
  const segment = await call(handler, 'GET', '/7.ts');
  expect(Buffer.from(segment.body, 'base64')[0]).toBe(0x47);
  expect((await call(handler, 'GET', '/live.m3u8')).headers['cache-control']).toBe('no-store');
  expect((await call(handler, 'GET', '/secret')).statusCode).toBe(404);
});

test('a webhook becomes a message with its body unchanged and its three headers', async () => {
  const sent: any[] = [];
  const { handler } = loadFunction(sent);
  const headers = { 'webhook-id': 'id_1', 'webhook-timestamp': '5', 'webhook-signature': 'v1,x' };
  const body = Buffer.from('{"type":"test", "data":{}}').toString('base64');
  expect((await call(handler, 'POST', '/hook', { headers, body, isBase64Encoded: true })).statusCode).toBe(
    204,
  );
  expect(sent).toMatchObject([
    {
      MessageBody: '{"type":"test", "data":{}}',
      MessageAttributes: { 'webhook-signature': { DataType: 'String', StringValue: 'v1,x' } },
    },
  ]);
});
