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
      /** The secret is hashed once more, with the nonces of the session (`MD5-sess` and the like). */
      ofSession: boolean;
      /** With `qop="auth"`: RFC 2617 and 7616. Without, as most cameras do it: RFC 2069. */
      withQop: boolean;
      /** The credentials were right, their nonce too old. */
      stale: boolean;
    };

/** The names of the standards, from weak to strong, with Node's. */
const hashes = { MD5: 'md5', 'SHA-256': 'sha256' } as const;

type DigestAlgorithm = keyof typeof hashes;

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
  return 1 + digestAlgorithms.indexOf(challenge.algorithm);
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
    ...algorithm,
    realm: parameters.get('realm') ?? '',
    opaque: parameters.get('opaque') ?? null,
    withQop: qop !== undefined,
    stale: parameters.get('stale')?.toLowerCase() === 'true',
  };
}

function readAlgorithm(name = 'MD5'): { algorithm: DigestAlgorithm; ofSession: boolean } | null {
  const [, base = '', session] = /^(.*?)(-sess)?$/i.exec(name) ?? [];
  const algorithm = digestAlgorithms.find((known) => known === base.toUpperCase());
  return algorithm === undefined ? null : { algorithm, ofSession: session !== undefined };
}

const digestAlgorithms: DigestAlgorithm[] = ['MD5', 'SHA-256'];

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
  const { realm, nonce, algorithm, ofSession, opaque, withQop } = challenge;
  const count = use.count.toString(16).padStart(8, '0');
  const ofUser = hash(algorithm, `${username}:${realm}:${password}`);
  const secret = ofSession ? hash(algorithm, `${ofUser}:${nonce}:${use.clientNonce}`) : ofUser;
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
  const name = ofSession ? `${algorithm}-sess` : algorithm;
  if (name !== 'MD5') fields.push(`algorithm=${name}`);
  if (withQop) fields.push('qop=auth', `nc=${count}`);
  if (withQop || ofSession) fields.push(`cnonce="${use.clientNonce}"`);
  return `Digest ${fields.join(', ')}`;
}

function hash(algorithm: DigestAlgorithm, text: string): string {
  return createHash(hashes[algorithm]).update(text).digest('hex');
}
