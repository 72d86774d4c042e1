import { readPlainPackets } from '../mpeg-ts/plain-packets.ts';
import { VideoFileError, type WebStream } from '../web/open-stream.ts';
import { createUnitWatcher } from './watch-units.ts';

/** Time for which the pace of a response is watched, in milliseconds. */
const watchedMs = 1_500;
/** Seconds of a stream that a server has stored for a new viewer. */
const storedSeconds = 6;

/**
 * Yields the packets of a stream, and ends its connection. Some servers state a length of live ones: those arrive as
 * fast as they pass. Throws `VideoFileError` for one that arrives faster, or ends.
 */
export async function* onlyLive(
  { chunks, headers, close }: WebStream,
  elapsedMs: () => number,
): AsyncGenerator<Uint8Array> {
  const watcher = createUnitWatcher();
  const held: Uint8Array[] = [];
  const beganMs = elapsedMs();
  let isWatched = headers['content-length'] !== undefined;
  try {
    for await (const chunk of readPlainPackets(chunks)) {
      held.push(chunk);
      if (isWatched) watcher.push(chunk);
      const seconds = (elapsedMs() - beganMs) / 1000;
      if (isWatched && watcher.seconds() > 2 * seconds + storedSeconds) throw new VideoFileError();
      isWatched &&= seconds * 1000 < watchedMs;
      if (!isWatched) yield* held.splice(0);
    }
  } finally {
    close();
  }
  if (isWatched) throw new VideoFileError();
}
