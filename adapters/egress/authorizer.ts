import { createHash } from 'node:crypto';

/**
 * Authenticates the requests of one connection. Sends no credentials before a challenge, and never in a weaker
 * scheme than offered.
 */
export type Authorizer = ReturnType<typeof createAuthorizer>;

/** Creates an authorizer. `newNonce` returns a new random client nonce (RFC 7616). */
export function createAuthorizer(credentials: Credentials | null, newNonce: () => string) {
  let challenge: Challenge | null = null;
  let count = 0;
  let refusals = 0;
  let confirmed = false;
  return {
    /** Returns the `Authorization` header, or none before a challenge. */
    headers(method: string, url: string): [string, string][] {
      if (challenge === null || credentials === null) return [];
      count += 1;
      const use = { method, uri: url, count, clientNonce: newNonce() };
      return [['Authorization', authorization(challenge, credentials, use)]];
    },
    /**
     * Reads the challenges of a 401. Returns false if a retry is useless, because the server has rejected these
     * credentials.
     */
    accept(challengeHeaders: readonly string[]): boolean {
      const next = readChallenge(challengeHeaders);
      if (credentials === null || next === null) return false;
      refusals += 1;
      const renewed = challenge === null || isRenewed(challenge, next, confirmed);
      challenge = next;
      count = 0;
      confirmed = false;
      return renewed && refusals <= maxRefusals;
    },
    /** Records that the server has accepted the request. */
    confirm(): void {
      confirmed = true;
      refusals = 0;
    },
  };
}

/**
 * Maximum consecutive challenges. The strictest servers require a new nonce per request; others repeat the
 * challenge forever.
 */
const maxRefusals = 8;

/**
 * Returns true if the nonce was replaced. Some servers send a new nonce with every response, so the nonce alone
 * proves nothing. Others require one per method without `stale`: credentials of the last accepted request are still
 * valid.
 */
function isRenewed(before: Challenge, next: Challenge, confirmed: boolean): boolean {
  if (before.scheme !== 'digestAuth' || next.scheme !== 'digestAuth') return false;
  return (next.stale || confirmed) && next.nonce !== before.nonce;
}

/** Credentials from a stream URL, decoded. */
export type Credentials = { username: string; password: string };

/** Returns the credentials of a URL, or null if it has none. */
export function readCredentials({ username, password }: URL): Credentials | null {
  if (username === '' && password === '') return null;
  return { username: decodeLeniently(username), password: decodeLeniently(password) };
}

/** Decodes a part of the URL. Returns it unchanged if a password contains a bare percent sign. */
function decodeLeniently(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

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
  const algorithm = hashAlgorithms.find((hashName) => hashName === base.toUpperCase());
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
