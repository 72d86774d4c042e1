import { expect, test } from 'vitest';
import { originHostsHeader, originSecretHeader } from '../../../adapters/aws/http/origins.ts';
import { isErrorEnvelope } from '../../../client/errors.ts';
import { stageKinds } from '../stage-kinds.ts';
import { ofType, one, ownFunctions, synthesize } from '../synthesize.ts';

const synthesized = synthesize(stageKinds['rest-origin']);

test('the stage has no public function URL', () => {
  expect(ofType(synthesized, 'AWS::Lambda::Url')).toEqual([]);
  for (const [, { Properties }] of ofType(synthesized, 'AWS::Lambda::Permission'))
    expect(Properties.Principal).not.toBe('*');
});

test('every path streams the responses of the function for as long as it may run', () => {
  const methods = ofType(synthesized, 'AWS::ApiGateway::Method').map(([, { Properties }]) => Properties);
  expect(methods).toHaveLength(4);
  const timeout = ownFunctions(synthesized)['stream'].Timeout * 1000;
  for (const { HttpMethod, Integration } of methods) {
    expect(HttpMethod).toBe('ANY');
    expect(Integration).toMatchObject({
      Type: 'AWS_PROXY',
      ResponseTransferMode: 'STREAM',
      TimeoutInMillis: timeout,
    });
    expect(JSON.stringify(Integration.Uri)).toMatch(
      /2021-11-15\/functions\/.*response-streaming-invocations/,
    );
  }
  expect(timeout).toBe(900_000);
});

test('CloudFront reads from the stage of the API, and sends the origin secret and the hosts of the service', () => {
  const { Origins } = one(synthesized, 'AWS::CloudFront::Distribution', 'Edge').DistributionConfig;
  const [origin] = Origins.filter(({ OriginPath }: any) => OriginPath === '/live');
  expect(origin.CustomOriginConfig.OriginReadTimeout).toBe(90);
  const names = origin.OriginCustomHeaders.map(({ HeaderName }: any) => HeaderName);
  expect(names).toEqual([originSecretHeader, originHostsHeader]);
});

test('every answer of API Gateway itself has the error envelope', () => {
  const responses = ofType(synthesized, 'AWS::ApiGateway::GatewayResponse').map(
    ([, each]) => each.Properties,
  );
  expect(new Set(responses.map(({ ResponseType }) => ResponseType))).toEqual(
    new Set(['DEFAULT_4XX', 'DEFAULT_5XX', 'REQUEST_TOO_LARGE', 'THROTTLED']),
  );
  for (const { ResponseTemplates } of responses)
    expect(isErrorEnvelope(JSON.parse(ResponseTemplates['application/json']))).toBe(true);
});

test('the alarm stream-faults compares the 5xx of the REST API with its requests', () => {
  const { Metrics } = one(synthesized, 'AWS::CloudWatch::Alarm', 'StreamFaults');
  const names = Metrics.flatMap(({ MetricStat }: any) => MetricStat?.Metric ?? []).map(
    ({ Namespace, MetricName }: any) => `${Namespace} ${MetricName}`,
  );
  expect(names.toSorted()).toEqual(
    ['5XXError', '5XXError', 'Count', 'Count'].map((name) => `AWS/ApiGateway ${name}`),
  );
});
