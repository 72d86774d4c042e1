import { setTimeout as sleep } from 'node:timers/promises';
import type { Case } from './cases.ts';
import { slug, type Stream } from './processes.ts';

type Publication = Awaited<ReturnType<Stream['start']>>;
/** Server on which a stream can be published at any path. */
export type PublishServer = { address(path: string): string; publish(each: Case, path: string): Publication };
/** Change of a stream while a monitor watches it. */
type Change = { name: string; next: Case };

const h264 = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -tune zerolatency -g 10';
const h265 =
  '-c:v libx265 -preset ultrafast -x265-params log-level=none:repeat-headers=1:keyint=10 -pix_fmt yuv420p';
const usual: Case = { name: 'usual', encoding: h264 };

export const changes = {
  publisher: { name: 'H.264, a publisher that restarts', next: usual },
  resolution: { name: 'H.264, a resolution that changes', next: { ...usual, filter: 'scale=640:360' } },
  codec: { name: 'H.264, a codec that changes to H.265', next: { name: 'H.265', encoding: h265 } },
  server: { name: 'H.264, a server that restarts', next: usual },
} as const satisfies { [kind: string]: Change };

/**
 * Returns a stream that is published again, with a change, while a monitor watches it. `between` happens in its
 * absence.
 */
export function disturbed(
  { name, next }: Change,
  { address, publish }: PublishServer,
  between?: () => Promise<void>,
): Stream {
  let publication: Publication | undefined;
  const path = slug({ name, encoding: '' });
  return {
    name,
    url: address(path),
    hasClock: true,
    start: async () => {
      publication = publish(usual, path);
      return { startedAt: publication.startedAt, close: () => publication?.close() };
    },
    disturb: async () => {
      publication?.close();
      await between?.();
      await sleep(1_000);
      publication = publish(next, path);
    },
  };
}
