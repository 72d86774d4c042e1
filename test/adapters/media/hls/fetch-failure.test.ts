import { describe, expect, test } from 'vitest';
import { toEgressError } from '../../../../adapters/egress/egress-error.ts';
import { hlsStreamError } from '../../../../adapters/media/hls/fetch-failure.ts';

const failed = (code: string) =>
  hlsStreamError(toEgressError(Object.assign(new Error('10.1.2.3 failed'), { code })), 'playlist');

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
