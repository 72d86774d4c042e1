/**
 * Serves recorded segments as a live stream in real time: `node hls-process.ts FOLDER SEGMENT_SECONDS DELAY_MS`. A
 * separate process, so that its processor time is not measured. `/live.m3u8` is the media playlist, `/master.m3u8`
 * leads to it.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [folder = '', seconds = '2', delay = '0'] = process.argv.slice(2);
const segmentSeconds = Number(seconds);
const delayMs = Number(delay);
const windowSegments = 6;
/** The stream has been live for the window plus half a segment. */
const startedAtMs = Date.now() - (windowSegments + 0.5) * segmentSeconds * 1000;

const server = createServer((request, response) => {
  void sleep(delayMs).then(() => answer(request.url ?? '', response));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(JSON.stringify({ port: typeof address === 'object' ? address?.port : 0, startedAtMs }));
});
process.on('disconnect', () => process.exit());

async function answer(path: string, response: ServerResponse): Promise<void> {
  if (path === '/master.m3u8') return void response.end(multivariant);
  if (path === '/live.m3u8') return void response.end(playlist());
  const file = await readFile(join(folder, basename(path))).catch(() => null);
  response.writeHead(file === null ? 404 : 200).end(file);
}

const multivariant = '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=3200000,RESOLUTION=1280x720\nlive.m3u8\n';

/** Returns the playlist. A segment is available once its last frame is. */
function playlist(): string {
  const newest = Math.floor((Date.now() - startedAtMs) / 1000 / segmentSeconds) - 1;
  const oldest = newest - windowSegments + 1;
  const lines = Array.from({ length: windowSegments }, (_, at) => {
    const startsAt = new Date(startedAtMs + (oldest + at) * segmentSeconds * 1000);
    return `#EXT-X-PROGRAM-DATE-TIME:${startsAt.toISOString()}\n#EXTINF:${segmentSeconds},\n${oldest + at}.ts`;
  });
  const head = `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:${segmentSeconds}\n#EXT-X-MEDIA-SEQUENCE:${oldest}`;
  return `${head}\n${lines.join('\n')}\n`;
}
