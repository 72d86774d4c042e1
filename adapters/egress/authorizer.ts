import { authorization, readChallenge, type Challenge } from './authentication.ts';
import type { Credentials } from './credentials.ts';

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
