import { createHash } from 'node:crypto';

export type Credentials = { username: string; password: string };

export type Challenge =
  | { scheme: 'basic' }
  | {
      scheme: 'digest';
      realm: string;
      nonce: string;
      opaque: string | null;
      algorithm: DigestAlgorithm;
      /** With `qop="auth"`: RFC 2617 and 7616. Without, as most cameras do it: RFC 2069. */
      withQop: boolean;
      /** The credentials were right, their nonce too old. */
      stale: boolean;
    };

type DigestAlgorithm = 'MD5' | 'SHA-256';

/** The best of the challenges in `WWW-Authenticate` headers that we can answer; null where there is none. */
export function readChallenge(headers: readonly string[]): Challenge | null {
  const challenges = headers
    .flatMap(splitChallenges)
    .map(understand)
    .filter((challenge) => challenge !== null);
  return challenges.toSorted((a, b) => strength(b) - strength(a))[0] ?? null;
}

function strength(challenge: Challenge): number {
  if (challenge.scheme === 'basic') return 0;
  return challenge.algorithm === 'SHA-256' ? 2 : 1;
}

type RawChallenge = { scheme: string; parameters: Map<string, string> };

/** One header may hold several challenges: a word without `=` begins the next one. */
function splitChallenges(header: string): RawChallenge[] {
  const challenges: RawChallenge[] = [];
  for (const match of header.matchAll(/([A-Za-z][\w-]*)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/g)) {
    const [, name = '', quoted, bare] = match;
    const value = quoted ?? bare;
    if (value === undefined) challenges.push({ scheme: name.toLowerCase(), parameters: new Map() });
    else challenges.at(-1)?.parameters.set(name.toLowerCase(), value);
  }
  return challenges;
}

function understand({ scheme, parameters }: RawChallenge): Challenge | null {
  if (scheme === 'basic') return { scheme };
  const nonce = parameters.get('nonce');
  const algorithm = readAlgorithm(parameters.get('algorithm'));
  const qop = parameters
    .get('qop')
    ?.toLowerCase()
    .split(/[\s,]+/);
  if (scheme !== 'digest' || nonce === undefined || algorithm === null) return null;
  if (qop !== undefined && !qop.includes('auth')) return null;
  return {
    scheme,
    nonce,
    algorithm,
    realm: parameters.get('realm') ?? '',
    opaque: parameters.get('opaque') ?? null,
    withQop: qop !== undefined,
    stale: parameters.get('stale')?.toLowerCase() === 'true',
  };
}

function readAlgorithm(name = 'MD5'): DigestAlgorithm | null {
  const upper = name.toUpperCase();
  return upper === 'MD5' || upper === 'SHA-256' ? upper : null;
}

export type DigestUse = {
  method: string;
  uri: string;
  /** How often this nonce has been used, this time included. */
  count: number;
  clientNonce: string;
};

/** The value of the `Authorization` header. */
export function authorization(challenge: Challenge, credentials: Credentials, use: DigestUse): string {
  const { username, password } = credentials;
  if (challenge.scheme === 'basic') {
    return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }
  const { realm, nonce, algorithm, opaque, withQop } = challenge;
  const count = use.count.toString(16).padStart(8, '0');
  const secret = hash(algorithm, `${username}:${realm}:${password}`);
  const request = hash(algorithm, `${use.method}:${use.uri}`);
  const salt = withQop ? `${nonce}:${count}:${use.clientNonce}:auth` : nonce;
  const response = hash(algorithm, `${secret}:${salt}:${request}`);
  const quoted = Object.entries({
    username: username.replace(/["\\]/g, '\\$&'),
    realm,
    nonce,
    uri: use.uri,
    response,
  });
  if (opaque !== null) quoted.push(['opaque', opaque]);
  const fields = quoted.map(([name, value]) => `${name}="${value}"`);
  if (algorithm !== 'MD5') fields.push(`algorithm=${algorithm}`);
  if (withQop) fields.push('qop=auth', `nc=${count}`, `cnonce="${use.clientNonce}"`);
  return `Digest ${fields.join(', ')}`;
}

function hash(algorithm: DigestAlgorithm, text: string): string {
  return createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
    .update(text)
    .digest('hex');
}
