import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../secret.ts';
import type { HttpEvent } from './http-event.ts';
import { originSecretHeader } from './origin-headers.ts';

/** Minimum time between reads of the secret: wrong guesses must not flood Secrets Manager. */
const minRereadSeconds = 10;

/** Returns true if the request has the secret of the distribution, because the origins are public. The comparison takes constant time. */
export async function hasOriginSecret({ headers }: HttpEvent, secret: Secret): Promise<boolean> {
  const shown = headers[originSecretHeader];
  if (shown === undefined) return false;
  return (
    matchesAny(shown, await secret.versions()) || matchesAny(shown, await secret.versions(minRereadSeconds))
  );
}

function matchesAny(shown: string, versions: string[]): boolean {
  return versions.filter((version) => timingSafeEqual(digest(version), digest(shown))).length > 0;
}

/** Hashes to equal lengths, as `timingSafeEqual` requires. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
