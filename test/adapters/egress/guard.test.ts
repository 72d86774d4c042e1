import { describe, expect, test } from 'vitest';
import { EgressRefusedError, EgressUnresolvedError } from '../../../adapters/egress/errors.ts';
import { createEgressGuard, createWebhookGuard, type Address } from '../../../adapters/egress/guard.ts';
import { InvalidUrlError } from '../../../core/errors.ts';
import { allowedHosts, malformedHosts, refusedHosts } from './vectors.ts';

const publicAddress: Address = { address: '93.184.216.34', family: 4 };

function guardWith(answers: Address[], allowRanges: string[] = []) {
  const asked: string[] = [];
  const lookup = (host: string): Promise<Address[]> => {
    asked.push(host);
    return Promise.resolve(answers);
  };
  return { asked, ...createEgressGuard({ allowRanges, lookup }) };
}

describe('forbidden host', () => {
  test.each(refusedHosts)('%s is rejected without a lookup', async (host) => {
    const guard = guardWith([publicAddress]);
    await expect(guard.resolve(host)).rejects.toBeInstanceOf(EgressRefusedError);
    expect(guard.asked).toEqual([]);
  });

  test.each(malformedHosts)('%j is malformed and rejected without a lookup', async (host) => {
    const guard = guardWith([publicAddress]);
    await expect(guard.resolve(host)).rejects.toBeInstanceOf(EgressRefusedError);
    expect(guard.asked).toEqual([]);
  });

  test.each(['rtsp', 'http', 'https'])(
    'a forbidden host is rejected in a %s URL too, in every notation',
    (scheme) => {
      const guard = guardWith([publicAddress]);
      const passed = [...refusedHosts, ...malformedHosts.filter(isWholeHost)].filter((host) => {
        try {
          guard.check(`${scheme}://${host}/live`, [scheme]);
          return true;
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidUrlError);
          return false;
        }
      });
      expect(passed).toEqual([]);
    },
  );
});

/** Some malformed hosts start another part of the URL when they are inserted. */
function isWholeHost(host: string): boolean {
  return host !== '' && !/[/\\@?#]|:80/.test(host);
}

describe('another scheme', () => {
  const remediation = (url: string, schemes: string[]): string => {
    try {
      guardWith([]).check(url, schemes);
    } catch (error) {
      if (error instanceof InvalidUrlError) return error.remediation;
    }
    return '';
  };

  test.each(['rtmp://example.com/live', 'rtmps://example.com/live', 'srt://example.com:9000'])(
    'the rejection of the stream %s names what the same server offers',
    (url) => {
      expect(remediation(url, ['http', 'https', 'rtsp'])).toBe(
        'stream_url: RTMP and SRT are not read. Use the HLS, RTSP or MPEG-TS address of the same server. Use one of these schemes: http://, https://, rtsp://.',
      );
    },
  );

  test.each([
    ['rtsph://example.com/live', 'has the scheme rtsp+http:// or rtsp+https://'],
    ['rtspsh://example.com/live', 'has the scheme rtsp+http:// or rtsp+https://'],
    ['rtspu://example.com/live', 'RTSP over UDP is not read. Use rtsp://'],
  ])('the rejection of %s names the reason and another address', (url, reason) => {
    expect(remediation(url, ['http', 'https', 'rtsp'])).toContain(reason);
  });

  test('the rejection of another URL names the schemes only', () => {
    expect(remediation('ftp://example.com/', ['rtsp'])).toBe(
      'stream_url: Use one of these schemes: rtsp://.',
    );
    expect(remediation('rtmp://example.com/', ['https'])).toBe(
      'stream_url: Use one of these schemes: https://.',
    );
  });
});

describe('public host', () => {
  test.each(allowedHosts)('the guard allows the host %s', async (host) => {
    const guard = guardWith([]);
    await expect(guard.resolve(host)).resolves.toHaveLength(1);
    expect(() => guard.check(`rtsp://${host}/live`, ['rtsp'])).not.toThrow();
  });

  test('a host becomes a plain address, so that its notation is unambiguous', async () => {
    await expect(guardWith([]).resolve('0x08.010.2056')).resolves.toEqual([
      { address: '8.8.8.8', family: 4 },
    ]);
  });

  test('a host is looked up by its canonical name, without a trailing dot', async () => {
    const guard = guardWith([publicAddress]);
    await expect(guard.resolve('Cam_1.Example.COM.')).resolves.toEqual([publicAddress]);
    expect(guard.asked).toEqual(['cam_1.example.com']);
  });
});

describe('resolved name', () => {
  const plain = refusedHosts
    .map((host) => host.replace(/^\[|\]$/g, ''))
    .filter((host) => /^\d+\.\d+\.\d+\.\d+$|:/.test(host));

  test.each(plain)('a name that resolves to %s is rejected', async (address) => {
    const guard = guardWith([{ address, family: address.includes(':') ? 6 : 4 }]);
    await expect(guard.resolve('cam.example')).rejects.toBeInstanceOf(EgressRefusedError);
  });

  test.each(['127.0.0.1', '::1', 'fe80::1%eth0', 'nonsense', ''])(
    'a name with one forbidden address (%j) among public ones is rejected',
    async (address) => {
      const guard = guardWith([publicAddress, { address, family: 4 }, publicAddress]);
      await expect(guard.resolve('cam.example')).rejects.toBeInstanceOf(EgressRefusedError);
    },
  );

  test('a name without an address is unresolved, not rejected', async () => {
    await expect(guardWith([]).resolve('gone.example')).rejects.toBeInstanceOf(EgressUnresolvedError);
  });

  test('a name whose lookup fails is unresolved', async () => {
    const guard = createEgressGuard({
      allowRanges: [],
      lookup: () => Promise.reject(new Error('ENOTFOUND')),
    });
    await expect(guard.resolve('gone.example')).rejects.toBeInstanceOf(EgressUnresolvedError);
  });

  test('a name is resolved by the operating system by default', async () => {
    const guard = createEgressGuard({ allowRanges: [] });
    await expect(guard.resolve('does-not-exist.invalid')).rejects.toBeInstanceOf(EgressUnresolvedError);
  });
});

const neverOpened =
  '169.254.169.254 169.254.170.2 0.0.0.0 224.0.0.1 255.255.255.255 168.63.129.16 [fd00:ec2::254] [::] [ff02::1] ' +
  'metadata.google.internal [::ffff:127.0.0.1] [::ffff:8.8.8.8] [64:ff9b::7f00:1] [2002:7f00:1::] [::127.0.0.1] [2001:0:1::]';

describe('allowed range', () => {
  test('a range allows its addresses and no other', async () => {
    const guard = guardWith([], ['192.168.7.0/24', 'fd12::/64']);
    await expect(guard.resolve('192.168.7.20')).resolves.toHaveLength(1);
    await expect(guard.resolve('[fd12::20]')).resolves.toHaveLength(1);
    await expect(guard.resolve('192.168.8.20')).rejects.toBeInstanceOf(EgressRefusedError);
    await expect(guard.resolve('[fd13::20]')).rejects.toBeInstanceOf(EgressRefusedError);
  });

  test('a range may be a single address', async () => {
    const guard = guardWith([], ['192.168.7.20', '::1']);
    await expect(guard.resolve('192.168.7.20')).resolves.toHaveLength(1);
    await expect(guard.resolve('[::1]')).resolves.toHaveLength(1);
    await expect(guard.resolve('192.168.7.21')).rejects.toBeInstanceOf(EgressRefusedError);
  });

  test('a range of IPv4 loopback limits localhost to that address', async () => {
    const guard = guardWith([], ['127.0.0.0/8']);
    await expect(guard.resolve('localhost')).resolves.toEqual([{ address: '127.0.0.1', family: 4 }]);
    expect(guard.check('rtsp://localhost:8554/cam', ['rtsp']).hostname).toBe('localhost');
  });

  test.each(neverOpened.split(' '))('no range allows %s', async (host) => {
    const guard = guardWith([publicAddress], ['0.0.0.0/0', '::/0', '169.254.169.254/32', '::ffff:0:0/96']);
    await expect(guard.resolve(host)).rejects.toBeInstanceOf(EgressRefusedError);
  });

  test.each(['10.0.0.0/33', '10.0/8', 'home', '', '010.0.0.0/8', '1.2.3.4/x'])(
    '%j is an invalid range',
    (range) => {
      expect(() => createEgressGuard({ allowRanges: [range] })).toThrow(RangeError);
    },
  );
});

const closed = guardWith([]);
const check = (url: string, schemes: string[]): URL => closed.check(url, schemes);
const checkFile = (): URL => check('file:///etc/passwd', ['http', 'rtsp']);

describe('URL check', () => {
  test.each([
    'file:///etc/passwd',
    'javascript:alert(1)',
    'ftp://example.com/x',
    'gopher://example.com',
    'data:,x',
  ])('the scheme of %s is rejected', (url) => {
    expect(() => check(url, ['http', 'https', 'rtsp'])).toThrow(InvalidUrlError);
  });

  test.each([
    '',
    'example.com/live',
    '//example.com',
    'http://',
    'rtsp:///live',
    'rtsp:live',
    'http://a b/',
    'http://exam\nple.com/',
    ' http://example.com',
  ])('%j is rejected as malformed', (url) => {
    expect(() => check(url, ['http', 'https', 'rtsp'])).toThrow(InvalidUrlError);
  });

  test.each([
    ['http://user:pa#ss@camera/1', 'Percent-encode'],
    ['rtsp://user:p/w@camera/1', 'Percent-encode'],
    ['camera/1', 'Use a complete URL'],
    ['rtsp://camera:5540000/1', 'Use a port from 1 to 65535'],
    ['http://192.168.1.20:80800', 'Use a port from 1 to 65535'],
    ['rtsp:camera:554/1', 'Use a complete URL'],
    ['http://192.168.1.300:80/1', 'Use a complete URL'],
  ])('the remediation of %s begins with "%s"', (url, begin) => {
    const remediation = expect.stringContaining(`stream_url: ${begin}`);
    expect(() => check(url, ['http', 'rtsp'])).toThrow(expect.objectContaining({ remediation }));
  });

  test('the remediation lists the allowed schemes', () => {
    expect(checkFile).toThrow(
      expect.objectContaining({ remediation: 'stream_url: Use one of these schemes: http://, rtsp://.' }),
    );
  });

  test.each([
    [createEgressGuard({ allowRanges: [] }), 'stream_url: ', '10.0.0.4/32 (WATCHPOST_ALLOW_RANGES)'],
    [createWebhookGuard([]), 'webhook_url: ', '10.0.0.4/32 (WATCHPOST_ALLOW_WEBHOOK_RANGES)'],
    [createWebhookGuard([], 'stage setting x'), 'webhook_url: ', '10.0.0.4/32 (stage setting x)'],
  ])('a private address is rejected with field, range and setting', (guard, field, allowing) => {
    const remediation = expect.stringMatching(new RegExp(`^${field}`));
    const opened = expect.stringContaining(allowing);
    for (const text of [remediation, opened])
      expect(() => guard.check('http://10.0.0.4/', ['http'])).toThrow(
        expect.objectContaining({ remediation: text }),
      );
    expect(() => guard.check('http://169.254.169.254/', ['http'])).toThrow(
      expect.objectContaining({ remediation: expect.stringContaining('no setting opens') }),
    );
  });

  test('the host is checked behind credentials and unusual separators', () => {
    expect(() => check('http://example.com@127.0.0.1/', ['http'])).toThrow(InvalidUrlError);
    expect(() => check('http://127.0.0.1\\@example.com/', ['http'])).toThrow(InvalidUrlError);
    expect(check('rtsp://user:p%40ss@example.com:554/cam', ['rtsp']).hostname).toBe('example.com');
  });
});
