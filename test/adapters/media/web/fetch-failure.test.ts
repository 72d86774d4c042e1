import { describe, expect, test } from 'vitest';
import { toEgressError } from '../../../../adapters/egress/egress-error.ts';
import { createEgressGuard } from '../../../../adapters/egress/guard.ts';
import { webStreamError, httpStatusError } from '../../../../adapters/media/web/fetch-failure.ts';
import { rtspStreamError } from '../../../../adapters/media/rtsp/protocol/errors.ts';
import { readRtspUrl } from '../../../../adapters/media/rtsp/protocol/stream-url.ts';

const failed = (code: string) =>
  webStreamError(toEgressError(Object.assign(new Error('10.1.2.3 failed'), { code })), 'playlist');

test.each([
  [undefined, 'WATCHPOST_ALLOW_RANGES'],
  ['stage setting allowRanges', 'stage setting allowRanges'],
])(
  'a name that resolves to a private address is refused with the setting of its host (%s)',
  async (setting, named) => {
    const lookup = async () => [{ address: '10.0.0.4', family: 4 as const }];
    const guard = createEgressGuard({
      allowRanges: [],
      lookup,
      ...(setting === undefined ? {} : { setting }),
    });
    const refused = await guard.resolve('camera.example').catch((error: unknown) => error);
    const target = readRtspUrl('rtsp://camera.example/1', guard);
    for (const error of [webStreamError(refused, 'segment'), rtspStreamError(refused, target)])
      expect(error).toMatchObject({ remediation: expect.stringContaining(`(${named})`) });
  },
);

describe('a playlist whose server cannot be reached', () => {
  test.each([
    ['ECONNREFUSED', /refuses connections at this port\. Check host and port/],
    ['ECONNRESET', /closed the connection/],
    ['UND_ERR_SOCKET', /closed the connection/],
    ['CERT_HAS_EXPIRED', /certificate of the server of the playlist is not valid/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /certificate/],
    ['EHOSTUNREACH', /cannot be reached/],
  ])('the failure %s has its own remedy, without an address', (code, remediation) => {
    const error = failed(code);
    expect(error).toMatchObject({
      code: 'STREAM_FETCH_FAILED',
      remediation: expect.stringMatching(remediation),
    });
    expect(JSON.stringify(error)).not.toContain('10.1.2.3');
  });
});

test('a playlist that requires a user names the authentication that is read', () => {
  expect(httpStatusError(401, 'playlist').remediation).toContain('Basic authentication only');
  expect(httpStatusError(401, 'stream').remediation).not.toContain('Basic');
});
