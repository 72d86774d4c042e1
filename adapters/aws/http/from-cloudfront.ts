import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../secret.ts';
import type { HttpEvent } from './http-event.ts';
import { originSecretHeader } from './origin-headers.ts';

/** CloudFront may know a new version before we do; who guesses must not make us ask for it with each guess. */
const soonestSeconds = 10;

/** Whether a request came through our distribution: the origins are public addresses. The time that it takes says nothing of the secret. */
export async function comesFromCloudFront({ headers }: HttpEvent, secret: Secret): Promise<boolean> {
  const shown = headers[originSecretHeader];
  if (shown === undefined) return false;
  return isOneOf(shown, await secret.versions()) || isOneOf(shown, await secret.versions(soonestSeconds));
}

function isOneOf(shown: string, versions: string[]): boolean {
  return versions.filter((version) => timingSafeEqual(digest(version), digest(shown))).length > 0;
}

/** Of equal length, whatever was shown. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
