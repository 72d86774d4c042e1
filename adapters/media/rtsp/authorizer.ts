import { authorization, readChallenge, type Challenge, type Credentials } from './authentication.ts';
import type { RtspHeader } from './message.ts';

/** Answers the challenges of one connection. Nothing is sent before the server has asked, and never in a weaker form than it offers. */
export type Authorizer = {
  headers(method: string, url: string): RtspHeader[];
  /** Takes in the challenges of a 401. False when asking again would be no use: the server has refused these credentials. */
  accept(challengeHeaders: readonly string[]): boolean;
  /** The server has taken what was sent. */
  confirm(): void;
};

/** `newNonce` makes a client nonce (RFC 7616), a fresh random text each time. */
export function createAuthorizer(credentials: Credentials | null, newNonce: () => string): Authorizer {
  let challenge: Challenge | null = null;
  let count = 0;
  let refusals = 0;
  let confirmed = false;
  return {
    headers(method, url) {
      if (challenge === null || credentials === null) return [];
      count += 1;
      const use = { method, uri: url, count, clientNonce: newNonce() };
      return [['Authorization', authorization(challenge, credentials, use)]];
    },
    accept(challengeHeaders) {
      const next = readChallenge(challengeHeaders);
      if (credentials === null || next === null) return false;
      refusals += 1;
      const renewed = challenge === null || isRenewed(challenge, next, confirmed);
      challenge = next;
      count = 0;
      confirmed = false;
      return renewed && refusals <= maxRefusals;
    },
    confirm() {
      confirmed = true;
      refusals = 0;
    },
  };
}

/** A server that goes on asking for ever is not asked for ever; one nonce a request is what the strictest do. */
const maxRefusals = 8;

/**
 * Some servers give every answer a new nonce without calling the old one stale, so the nonce alone says nothing. Others want a new one
 * for every method and do not call it stale either: credentials that were good for the last request are not wrong now.
 */
function isRenewed(before: Challenge, next: Challenge, confirmed: boolean): boolean {
  if (before.scheme !== 'digest' || next.scheme !== 'digest') return false;
  return (next.stale || confirmed) && next.nonce !== before.nonce;
}
