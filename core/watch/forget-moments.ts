import type { DeliveryOutcome, DeliveryQueue } from '../ports/delivery.ts';
import type { MediaStore } from '../ports/media-store.ts';
import type { MomentStore } from '../ports/moment-store.ts';
import type { ForgetMessage } from '../records/delivery.ts';

export type ForgetDeps = {
  moments: Pick<MomentStore, 'remove'>;
  media: Pick<MediaStore, 'remove'>;
  now: () => Date;
};

/**
 * Time after which a removal begins no further part, in milliseconds: a response has 29 s. Reads leave out what is
 * older than the memory anyway.
 */
const maxForgetMs = 15_000;
/** Moments of a part: S3 deletes a thousand objects in a request. */
const atOnce = 250;

/**
 * Removes the moments of a watch before a time, all without one, with their pictures. A message of the queue removes
 * those that are left after its time, or after a fault.
 */
export async function forgetMoments(
  watchId: string,
  before: Date | null,
  deps: ForgetDeps & { queue: DeliveryQueue },
): Promise<void> {
  let isWhole = false;
  try {
    isWhole = await removeParts(watchId, before, deps);
  } finally {
    if (!isWhole) await deps.queue.send({ forget: watchId, before: before?.toISOString() ?? null });
  }
}

/** Handles the message of moments that are left. */
export async function forgetRest(
  { forget: watchId, before }: ForgetMessage,
  deps: ForgetDeps,
): Promise<DeliveryOutcome> {
  const isWhole = await removeParts(watchId, before === null ? null : new Date(before), deps);
  return isWhole ? { kind: 'done' } : { kind: 'again', afterSeconds: 1 };
}

/** Returns false if some are left. */
async function removeParts(
  watchId: string,
  before: Date | null,
  { moments, media, now }: ForgetDeps,
): Promise<boolean> {
  const until = now().getTime() + maxForgetMs;
  let isWhole = false;
  while (!isWhole && now().getTime() < until) {
    const { keys, more } = await moments.remove(watchId, before, atOnce);
    if (keys.length > 0) await media.remove(keys);
    isWhole = !more;
  }
  return isWhole;
}
