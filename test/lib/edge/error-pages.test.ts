import { expect, test } from 'vitest';
import { errorStatuses } from '../../../adapters/http/error-envelope.ts';
import { toError } from '../../../client/errors.ts';
import { errorPages } from '../../../lib/edge/console-site.ts';
import { one, synthesize } from '../synthesize.ts';
import type { StageSettingsInput } from '../../../lib/stages/stage-settings.ts';

type ErrorResponse = { ErrorCode: number; ResponseCode?: number; ResponsePagePath?: string };

const readResponses = (settings: StageSettingsInput = {}): ErrorResponse[] =>
  one(synthesize(settings), 'AWS::CloudFront::Distribution', 'Edge').DistributionConfig.CustomErrorResponses;
const responses = readResponses();

test('CloudFront returns the error envelope with its status where an origin does not answer', () => {
  for (const status of [502, 503, 504])
    expect(responses).toContainEqual({
      ErrorCode: status,
      ResponseCode: status,
      ResponsePagePath: `/console/errors/${status}.json`,
      ErrorCachingMinTTL: 0,
    });
});

test('no page replaces a response of the service', () => {
  // The 503 of an overload is a response of one machine only.
  const onAws = [...errorStatuses].filter((status) => status !== 503);
  for (const { ErrorCode, ResponsePagePath } of responses)
    if (ResponsePagePath !== undefined) expect(onAws).not.toContain(ErrorCode);
});

test.each(errorPages)(
  'clients read the envelope of $status and know its next step',
  ({ status, envelope }) => {
    const error = toError(status, JSON.parse(JSON.stringify(envelope)), null);
    expect(error.code).not.toBe('UNEXPECTED_ANSWER');
    expect(error.retryable).toBe(status >= 500);
  },
);

test('a stage without the console has no pages, because their files are not copied', () => {
  for (const { ResponsePagePath } of readResponses({ console: false }))
    expect(ResponsePagePath).toBeUndefined();
});
