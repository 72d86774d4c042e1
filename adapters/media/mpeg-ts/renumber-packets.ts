import { hasSyncByte, packetBytes, readByte, readPid } from './packet.ts';

/**
 * Yields chunks of whole packets whose continuity counters follow each other: chunks are cut from one or several
 * streams, and ffmpeg takes each gap for a loss. Losses in the streams are found before. A chunk whose counters do so
 * is the same array.
 */
export async function* renumberPackets(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const counters = new Map<number, number>();
  for await (const chunk of chunks) {
    let written = chunk;
    for (let at = 0; at + packetBytes <= chunk.length && hasSyncByte(chunk, at); at += packetBytes) {
      const field = readByte(chunk, at + 3);
      const pid = readPid(chunk, at);
      const before = counters.get(pid) ?? (field & 0x0f) - 1;
      const counter = (before + ((field & 0x10) === 0 ? 0 : 1)) & 0x0f;
      counters.set(pid, counter);
      if (counter === (field & 0x0f)) continue;
      if (written === chunk) written = new Uint8Array(chunk);
      written[at + 3] = (field & 0xf0) | counter;
    }
    yield written;
  }
}
