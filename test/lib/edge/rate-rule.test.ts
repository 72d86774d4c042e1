import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readStage } from '../../../lib/stages/read-stage.ts';
import { ofType, one, ownFunctions, synthesize } from '../synthesize.ts';

test('a rate rule in front of the distribution returns 429 to an address above the rate limit', () => {
  const synthesized = synthesize({ region: 'us-east-1', requestsPerAddress: 2000 });
  const [[id, acl]] = ofType(synthesized, 'AWS::WAFv2::WebACL') as any;
  expect(acl.Properties).toMatchObject({
    Scope: 'CLOUDFRONT',
    DefaultAction: { Allow: {} },
    Rules: [
      {
        Action: { Block: { CustomResponse: { ResponseCode: 429 } } },
        Statement: {
          RateBasedStatement: { AggregateKeyType: 'IP', Limit: 2000, EvaluationWindowSec: 300 },
        },
      },
    ],
  });
  const [[key, body]] = Object.entries(acl.Properties.CustomResponseBodies) as any;
  expect(acl.Properties.Rules[0].Action.Block.CustomResponse.CustomResponseBodyKey).toBe(key);
  expect(body.ContentType).toBe('APPLICATION_JSON');
  expect(JSON.parse(body.Content)).toMatchObject({ error: { code: 'RATE_LIMITED' } });
  const { DistributionConfig } = one(synthesized, 'AWS::CloudFront::Distribution', 'EdgeDistribution');
  expect(DistributionConfig.WebACLId).toEqual({ 'Fn::GetAtt': [id, 'Arn'] });
});

test('a rate rule outside of us-east-1 is an error with a remediation', () => {
  expect(() => synthesize({ region: 'eu-central-1', requestsPerAddress: 2000 })).toThrow('webAclArn');
});

test('the production example reserves concurrency for api, stream, events and capture', () => {
  const stages = fileURLToPath(new URL('../../../lib/stages/', import.meta.url));
  const { reservedConcurrency, eventStreams } = readStage('prod', stages).settings;
  const functions = ownFunctions(synthesize({ reservedConcurrency, eventStreams }));
  for (const name of ['api', 'stream', 'events', 'capture'] as const) {
    expect(reservedConcurrency[name]).toBeGreaterThan(0);
    expect(functions[name].ReservedConcurrentExecutions).toBe(reservedConcurrency[name]);
  }
});
