import { authorization, readChallenge, type Challenge, type Credentials } from './authentication.ts';
import type { RtspHeader } from './message.ts';

/** Answers the challenges of one connection. Nothing is sent before the server has asked, and never in a weaker form than it offers. */
export type Authorizer = {
  headers(method: string, url: string): RtspHeader[];
  /** Takes in the challenges of a 401. False when asking again would be no use: the server has refused these credentials. */
  accept(challengeHeaders: readonly string[]): boolean;
};

/** `newNonce` makes a client nonce (RFC 7616), a fresh random text each time. */
export function createAuthorizer(credentials: Credentials | null, newNonce: () => string): Authorizer {
  let challenge: Challenge | null = null;
  let count = 0;
  let refusals = 0;
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
      const renewed = challenge === null || isRenewed(challenge, next);
      challenge = next;
      count = 0;
      return renewed && refusals <= maxRefusals;
    },
  };
}

/** A server that goes on asking for ever is not asked for ever; one nonce a request is what the strictest do. */
const maxRefusals = 8;

/** Some servers give every answer a new nonce without calling the old one stale, so only the word counts. */
function isRenewed(before: Challenge, next: Challenge): boolean {
  return before.scheme === 'digest' && next.scheme === 'digest' && next.stale && next.nonce !== before.nonce;
}
