import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  authorization,
  readChallenge,
  type Challenge,
  createAuthorizer,
} from '../../../adapters/egress/authorizer.ts';
import { parseHead } from '../../../adapters/media/rtsp/protocol/message.ts';

const mufasa = { username: 'Mufasa', password: 'Circle of Life' };

const challengeOf7616 = (algorithm: string): string =>
  `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`;

describe('RTSP authentication challenge', () => {
  test('a challenge gets the response of the example in RFC 7616, with MD5 and SHA-256', () => {
    const clientNonce = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ';
    const use = { method: 'GET', uri: '/dir/index.html', count: 1, clientNonce };
    const answer = (algorithm: string): string =>
      authorization(readChallenge([challengeOf7616(algorithm)])!, mufasa, use);
    expect(answer('MD5')).toContain('response="8ca523f5e9506fed4657c9700eebdbec"');
    expect(answer('SHA-256')).toContain(
      'response="753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"',
    );
    expect(answer('SHA-256')).toContain('algorithm=SHA-256, qop=auth, nc=00000001');
  });

  test('a challenge without qop gets a response by RFC 2069, as cameras expect', () => {
    const challenge = readChallenge([
      'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"',
    ])!;
    const use = { method: 'GET', uri: '/dir/index.html', count: 1, clientNonce: 'unused' };
    const answer = authorization(challenge, { username: 'Mufasa', password: 'CircleOfLife' }, use);
    // Erratum 749 of RFC 2069.
    expect(answer).toContain('response="1949323746fe6a43ef61f9606e7febea"');
    expect(answer).not.toMatch(/qop|cnonce|nc=/);
  });

  test.each([
    ['Basic realm="a"|Digest realm="b", nonce="n"', 'digestAuth'],
    ['Digest realm="b", nonce="n"|Basic realm="a"', 'digestAuth'],
    ['Basic realm="x, Digest", Digest realm="b", nonce="n"', 'digestAuth'],
    ['Basic realm="a"', 'basic'],
    ['basic', 'basic'],
    ['Digest realm="no nonce", Basic realm="a"', 'basic'],
    ['Digest realm="b", nonce="n", algorithm=SHA-512-256|Basic realm="a"', 'basic'],
    ['Digest realm="b", nonce="n", qop="auth-int"', undefined],
    ['Negotiate', undefined],
    ['', undefined],
  ])('a challenge of %s gets a response by %s', (headers, scheme) => {
    expect(readChallenge(headers.split('|'))?.scheme).toBe(scheme);
  });

  test.each([
    ['MD5-sess', 'md5', ', qop="auth"'],
    ['MD5-sess', 'md5', ''],
    ['SHA-256-sess', 'sha256', ', qop="auth,auth-int"'],
  ])(
    'a challenge of %s hashes the secret with the nonces of the session (RFC 7616, 3.4.2)',
    (algorithm, name, qop) => {
      const challenge = readChallenge([`Digest realm="r", nonce="n", algorithm=${algorithm}${qop}`])!;
      const use = { method: 'DESCRIBE', uri: 'rtsp://h/', count: 2, clientNonce: 'c' };
      const hash = (text: string): string => createHash(name).update(text).digest('hex');
      const secret = hash(`${hash('Mufasa:r:Circle of Life')}:n:c`);
      const salt = qop === '' ? 'n' : 'n:00000002:c:auth';
      const answer = authorization(challenge, mufasa, use);
      expect(answer).toContain(`response="${hash(`${secret}:${salt}:${hash('DESCRIBE:rtsp://h/')}`)}"`);
      expect(answer).toContain(`algorithm=${algorithm}`);
      expect(answer).toContain('cnonce="c"');
    },
  );

  test('a challenge with quotes, commas, spaces and bare words is parsed', () => {
    const header =
      'DIGEST  Realm = "a, \\"b\\", Basic c" ,nonce=YWJj== , opaque="" , QOP="auth-int , auth", STALE=TRUE';
    expect(readChallenge([header])).toMatchObject({
      realm: 'a, \\"b\\", Basic c',
      nonce: 'YWJj==',
      opaque: '',
      withQop: true,
      stale: true,
    });
  });

  test('SHA-256 is preferred if a server offers both algorithms', () => {
    const challenge = readChallenge([
      'Digest realm="r", nonce="n", algorithm=MD5',
      'Digest realm="r", nonce="n", algorithm=SHA-256',
    ]);
    expect(challenge).toMatchObject({ algorithm: 'SHA-256' } satisfies Partial<Challenge>);
  });
});

const fresh = (nonce: string, stale = 'false'): string[] => [
  `Digest realm="r", nonce="${nonce}", qop="auth", stale=${stale}`,
];
const createAuthorizerFor = (credentials: { username: string; password: string } | null) =>
  createAuthorizer(credentials, () => 'c');

describe('RTSP credentials', () => {
  test('credentials are sent only after a challenge and count the uses of a nonce', () => {
    const authorizer = createAuthorizerFor(mufasa);
    expect(authorizer.headers('DESCRIBE', 'rtsp://h/')).toEqual([]);
    expect(authorizer.accept(fresh('1'))).toBe(true);
    expect(authorizer.headers('DESCRIBE', 'rtsp://h/')[0]![1]).toContain('nc=00000001');
    expect(authorizer.headers('SETUP', 'rtsp://h/')[0]![1]).toContain('nc=00000002');
  });

  test('credentials are retried after a stale nonce, but not after a rejection', () => {
    const authorizer = createAuthorizerFor(mufasa);
    expect(authorizer.accept(fresh('1'))).toBe(true);
    expect(authorizer.accept(fresh('2', 'true'))).toBe(true);
    expect(authorizer.headers('PLAY', 'rtsp://h/')[0]![1]).toContain('nonce="2"');
    expect(authorizer.accept(fresh('3'))).toBe(false);
    expect(createAuthorizerFor(null).accept(fresh('1'))).toBe(false);
  });

  test('accepted credentials are retried once with a new nonce, stale or not', () => {
    const authorizer = createAuthorizerFor(mufasa);
    expect(authorizer.accept(fresh('1'))).toBe(true);
    authorizer.confirm();
    expect(authorizer.accept(fresh('1'))).toBe(false);
    authorizer.confirm();
    expect(authorizer.accept(fresh('2'))).toBe(true);
    expect(authorizer.accept(fresh('3'))).toBe(false);
  });

  test('credentials are not retried forever if a server reports every nonce as stale', () => {
    const authorizer = createAuthorizerFor(mufasa);
    const attempts = Array.from({ length: 20 }, (_, index) =>
      authorizer.accept(fresh(String(index), 'true')),
    );
    expect(attempts.filter(Boolean)).toHaveLength(8);
  });
});

describe('challenge with a carriage return', () => {
  test('a carriage return in a challenge adds no line to the request', () => {
    const { headers } = parseHead('RTSP/1.0 401 No\r\nWWW-Authenticate: Digest realm="a", nonce="b\rX: y"');
    const challenge = readChallenge(headers.map(([, value]) => value))!;
    const use = { method: 'DESCRIBE', uri: 'rtsp://a/', count: 1, clientNonce: 'c' };
    expect(authorization(challenge, { username: 'u', password: 'p' }, use)).not.toMatch(/[\r\n]/);
  });
});
