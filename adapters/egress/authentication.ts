import { createHash } from 'node:crypto';
import type { Credentials } from './credentials.ts';

/** Authentication challenge that this client supports. */
export type Challenge =
  | { scheme: 'basic' }
  | {
      scheme: 'digestAuth';
      realm: string;
      nonce: string;
      opaque: string | null;
      algorithm: HashAlgorithm;
      /** True for `MD5-sess` and the like: the secret is hashed again with the nonces of the session. */
      ofSession: boolean;
      /** True with `qop="auth"` (RFC 2617, RFC 7616). False for RFC 2069, as used by most cameras. */
      withQop: boolean;
      /** True if the credentials were accepted but the nonce has expired. */
      stale: boolean;
    };

/** Hash algorithms from weak to strong, with their names in Node. */
const hashes = { MD5: 'md5', 'SHA-256': 'sha256' } as const;

type HashAlgorithm = keyof typeof hashes;

/** Returns the strongest supported challenge of the `WWW-Authenticate` headers, or null. */
export function readChallenge(headers: readonly string[]): Challenge | null {
  const challenges = headers
    .flatMap(splitChallenges)
    .map(understand)
    .filter((challenge) => challenge !== null);
  return challenges.toSorted((a, b) => strength(b) - strength(a))[0] ?? null;
}

function strength(challenge: Challenge): number {
  if (challenge.scheme === 'basic') return 0;
  return 1 + hashAlgorithms.indexOf(challenge.algorithm);
}

type RawChallenge = { scheme: string; parameters: Map<string, string> };

/** Splits a header with several challenges: a word without `=` starts the next one. */
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
    scheme: 'digestAuth',
    nonce,
    ...algorithm,
    realm: parameters.get('realm') ?? '',
    opaque: parameters.get('opaque') ?? null,
    withQop: qop !== undefined,
    stale: parameters.get('stale')?.toLowerCase() === 'true',
  };
}

function readAlgorithm(name = 'MD5'): { algorithm: HashAlgorithm; ofSession: boolean } | null {
  const [, base = '', session] = /^(.*?)(-sess)?$/i.exec(name) ?? [];
  const algorithm = hashAlgorithms.find((known) => known === base.toUpperCase());
  return algorithm === undefined ? null : { algorithm, ofSession: session !== undefined };
}

const hashAlgorithms: HashAlgorithm[] = ['MD5', 'SHA-256'];

export type DigestAuthRequest = {
  method: string;
  uri: string;
  /** Number of uses of this nonce, including this one. */
  count: number;
  clientNonce: string;
};

/** Returns the value of the `Authorization` header. */
export function authorization(
  challenge: Challenge,
  credentials: Credentials,
  use: DigestAuthRequest,
): string {
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

function hash(algorithm: HashAlgorithm, text: string): string {
  return createHash(hashes[algorithm]).update(text).digest('hex');
}
